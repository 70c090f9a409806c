"""The six experiments: what the runtime promises, proved on a model of your own."""
