"""The conformance suite: does a backend tell the truth?"""
