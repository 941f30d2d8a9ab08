"""A task is a value: how its labelled data is read, what head it has, how it is scored."""
