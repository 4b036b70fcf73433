"""Where the work is done. Every engine keeps one contract (base.py) and adds exactly (exact.py), so all give the same bits."""
