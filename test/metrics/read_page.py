"""Reads what a program prints with Prometheus' own reader of the OpenMetrics text format.

read_page.py PROGRAM; exit code 77 where that reader is not installed.
"""

import subprocess
import sys

try:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
except ImportError:
    print("skipped: python3-prometheus-client is not installed")
    sys.exit(77)

page = subprocess.run(sys.argv[1:], check=True, capture_output=True, text=True).stdout
families = list(text_string_to_metric_families(page))
for family in families:
    print(family.type, family.name, len(family.samples))
    assert family.documentation and family.samples, family.name
    assert family.name.startswith("leasehold_"), family.name
    assert family.name.endswith("_seconds") == (family.unit == "seconds"), family.name
assert len(families) == page.count("# TYPE "), "families that were not read"
