"""Judges that the runtime does not use: validity, the simulated provider, the independent reader."""
