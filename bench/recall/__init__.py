"""How well a question finds what was written: lexical recall on a folder of texts and questions.

Unlike the rest of the benchmark this imports wayfare: the ranking is what it measures. The
baselines it is measured against import nothing of it.
"""
