"""The models wayfare can talk to, and what their answers mean.

Nothing is imported here: a provider's SDK is loaded only by the module that needs it.
`registry.model_from` makes a model of a spec, `retry.Retrying` makes it patient, and
`scripted.ScriptedModel` is the double for tests.
"""
