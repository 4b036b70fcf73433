"""Display of models: topic views, maps, plots and notebooks."""
