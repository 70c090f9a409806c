"""The benchmark: judges, baselines and measures that work on plain wire dicts.

Nothing here imports wayfare, so that no judge can share a mistake with the code it judges. The
part that runs wayfare's own presets calls `bench.run_policy.run_policy` with a policy of its own.
"""
