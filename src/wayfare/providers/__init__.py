"""The models wayfare can talk to, and what their answers mean.

Nothing is imported here: a provider's SDK is loaded only by the module that needs it.
"""
