"""The functions that `evaltex_cli` offers to Python: one name or several,
paths or arrays, records as results.
"""
