"""Adapters for other frameworks: telemetry first."""
