"""Training algorithms: the statistics of a shard, the update of the state, and the loop around them."""
