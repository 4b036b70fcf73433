"""The mathematics: what a shard contributes and how contributions become the next state; and the loop around it."""
