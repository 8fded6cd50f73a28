"""Cases: the suite as pytest tests.

::

    pytest --pyargs realta_conformance.cases -p realta_conformance.plugin --device numpy:0

One test for each level and op; `realta_conformance.plugin` has the options.
"""
