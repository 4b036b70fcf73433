"""How good a model is: plain functions of arrays, the same for every model and for other people's."""
