"""Training: the loop, optimisers, schedules, means, checkpoints."""
