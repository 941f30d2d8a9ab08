"""What turns an encoder's vectors into answers: classes, numbers, tags, spans."""
