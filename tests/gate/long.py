"""The tests that the gate leaves out: kills, soak, attacks' table, many failovers, Spark clusters, and what measures.

A file is named here by what comes before its tests' names; whatever is not named is in the gate. Seconds are those of
one run on two cores, beside the unit tests.
"""

from __future__ import annotations

from typing import Final

LONG: Final = (
    "tests/attacks/",  # 320; its table measures, too
    "tests/soak/test_soak.py",  # 40
    "tests/clients/sasl/test_renewal.py",  # 286: sessions of three seconds, over and over
    "tests/clients/sasl/test_termination.py",  # 83
    "tests/clients/sasl/test_client_credentials.py",  # 72
    "tests/clients/sasl/test_tokens.py",  # 53
    "tests/clients/sasl/test_byte_rates.py",  # 28
    "tests/clients/sasl/test_group_departures.py",  # 22
    # What an upstream's TLS is does not depend on a client's transactions, nor one node on Java's tools.
    "tests/clients/tls/test_clients.py::test_transactions[tls-plain-",
    "tests/clients/tls/test_clients.py::test_transactions[plain-tls-",
    "tests/clients/test_java_tools.py::test_topics_and_configs[newest]",
    "tests/clients/test_java_tools.py::test_perf_and_consumer_groups[newest]",
    "tests/clients/test_java_tools.py::test_verifiable_producer_and_consumer[newest]",
    "tests/clients/test_java_tools.py::test_transactional_producer[newest]",
    "tests/clients/tls/test_sni.py",  # 135
    "tests/clients/tls/test_failover.py",  # 29
    "tests/clients/test_demo.py",  # 85; the gate runs `make demo` itself
    "tests/clients/test_failback_groups.py",  # 134
    "tests/clients/test_failover_coordinators.py",  # 45
    "tests/clients/test_failover_old_backend.py",  # 43
    "tests/clients/test_failover_producers.py",  # 43
    "tests/clients/test_failover_rehearsal.py",  # 22
    "tests/clients/test_failover_refused.py",  # 22
    "tests/clients/test_failover_rounds.py",
    "tests/clients/test_failover_passages.py",
    "tests/clients/test_failover_idle.py",
    "tests/clients/test_leader_moves.py",  # 53
    "tests/clients/test_byte_rates.py",  # 49
    "tests/clients/test_telemetry_subscriptions.py",  # 47
    "tests/clients/test_telemetry_restart.py",  # 19
    "tests/clients/test_pytest_plugin.py",  # 45
    "tests/clients/test_transactions_under_faults.py",  # 45
    "tests/clients/test_hidden_topic_ids.py",  # 36
    "tests/clients/test_haproxy.py",  # 28
    "tests/clients/test_error_conformance.py",  # 18
    "tests/clients/test_rebootstrap_replacement.py",  # 28
    "tests/clients/test_rebootstrap_order.py",  # 27
    "tests/clients/test_rebootstrap_drain.py",  # 23
    "tests/clients/test_reload_listen.py",  # 18
    "tests/faults/test_agreement.py",  # 54: random schedules
    "tests/faults/test_broker_death.py",  # 51
    "tests/faults/test_admin_tls_attacks.py",  # 42
    "tests/faults/test_standbys.py",  # 33
    "tests/faults/test_connection_storms.py",  # 15; measures
    "tests/groups/test_killed.py",
    "tests/groups/test_connect.py",
    "tests/groups/test_streams.py",
    "tests/groups/test_disk.py",
    "tests/pipeline/ingest/test_killed.py",  # 387
    "tests/groups/test_offsets.py::test_the_offsets_of_a_live_member_do_not_expire",  # 67: its minute of retention
    "tests/pipeline/demo/test_command.py::test_the_sample",  # 147
    "tests/pipeline/demo/test_seeds.py",  # 116
    "tests/pipeline/derived/test_of_events.py::test_in_any_order_and_twice",  # 100
    "tests/pipeline/derived/test_of_events.py::test_errors_whose_hour_has_been_forgotten",  # 36; rollups have it, too
    "tests/pipeline/ingest/test_bad_input.py::test_two_jobs_on_one_checkpoint",  # 112
    "tests/pipeline/report/test_browser.py",
    "tests/pipeline/test_clusters.py",
)
