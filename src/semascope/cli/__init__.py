"""Command-line interface: one file per command. Heavy imports are deferred until the arguments are parsed."""
