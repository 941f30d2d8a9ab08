"""Training: the loop, optimisers, schedules, checkpoints, the runtime."""
