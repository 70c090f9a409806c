"""Context governance: how one task goes on in a finite window."""
