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
    # Of each old library the gate has one version, relayed and hosted.
    "tests/clients/old/test_old_clients.py::test_it_does_so_directly",
    "tests/clients/old/test_oldest_brokers.py::test_an_old_client[java-2.8.2",
    "tests/clients/old/test_oldest_brokers.py::test_an_old_client[confluent-kafka",
    "tests/clients/old/test_old_clients.py::test_it_writes_reads_and_commits[kafka-python-1.4.7",
    "tests/clients/old/test_old_clients.py::test_it_writes_reads_and_commits[kafka-python-2.0.2-at-0.8.2",
    "tests/clients/old/test_old_clients.py::test_it_writes_reads_and_commits[kafka-python-2.0.2-at-0.10.1",
    "tests/clients/old/test_old_clients.py::test_it_writes_reads_and_commits[kafka-python-2.0.2-at-0.11",
    "tests/clients/old/test_old_clients.py::test_it_writes_reads_and_commits[pykafka-2.8.0-at-0.10.2",
    "tests/clients/old/test_old_clients.py::test_it_writes_reads_and_commits[java-1.1.1",
    "tests/clients/old/test_old_clients.py::test_it_writes_reads_and_commits[java-2.",
    "tests/clients/old/test_old_clients.py::test_it_writes_reads_and_commits[confluent-kafka-2.0.2-at-0.10.0",
    "tests/clients/old/test_old_clients.py::test_it_writes_reads_and_commits[sarama-1.61.1-at-0.8.2.0",
    "tests/clients/old/test_old_clients.py::test_it_writes_reads_and_commits[sarama-1.61.1-at-0.9.0.1",
    "tests/clients/old/test_old_clients.py::test_it_writes_reads_and_commits[sarama-1.61.1-at-1.0.0",
    # One node of 4.4 and three of 4.3: of Kafka's tools and most clients, the gate has one.
    "tests/clients/test_java_tools.py::test_topics_and_configs[newest]",
    "tests/clients/test_java_tools.py::test_perf_and_consumer_groups[newest]",
    "tests/clients/test_java_tools.py::test_verifiable_producer_and_consumer[newest]",
    "tests/clients/test_java_tools.py::test_transactional_producer[newest]",
    "tests/clients/test_java_tools.py::test_other_java_clients[newest-",
    "tests/clients/test_java_tools.py::test_addresses_that_an_admin_asks_for[newest]",
    "tests/clients/test_java_tools.py::test_share_consumer[kafka]",
    "tests/clients/test_python_clients.py::test_every_acks_byte_exact[newest-",
    "tests/clients/test_python_clients.py::test_transactions[kafka-",
    "tests/clients/test_kafkajs.py::test_every_acks_byte_exact[newest]",
    "tests/clients/test_kafkajs.py::test_transactions[kafka]",
    "tests/clients/test_franz_go.py::test_every_acks_byte_exact[newest]",
    "tests/clients/test_franz_go.py::test_transactions[kafka]",
    "tests/clients/test_masked_configs.py::test_kafka_configs[newest-",
    # TLS on one side alone: tls-tls has both, and tests/unit/relay/test_acceptor_tls.py each.
    "tests/clients/tls/test_clients.py::test_every_acks_byte_exact[tls-plain-",
    "tests/clients/tls/test_clients.py::test_every_acks_byte_exact[plain-tls-",
    "tests/clients/tls/test_clients.py::test_transactions[tls-plain-",
    "tests/clients/tls/test_clients.py::test_transactions[plain-tls-",
    "tests/clients/tls/test_clients.py::test_java[tls-plain-",
    "tests/clients/tls/test_clients.py::test_java[plain-tls-",
    "tests/clients/tls/test_certificates.py::test_certificates_that_change_under_load",  # 22
    "tests/clients/tls/test_suites.py::test_suites_of_tls_1_2",  # 9
    # A switch to other node ids has old librdkafkas that know no 129, too.
    "tests/clients/test_failover_clients.py::test_every_client_goes_on[java-to-",
    "tests/clients/test_failover_clients.py::test_few_metadata_requests[java-to-",
    "tests/clients/test_failover_clients.py::test_nobody_is_notified_twice[java-to-",
    "tests/clients/test_failover_clients.py::test_no_acknowledged_record_is_lost[java-to-",
    "tests/clients/test_failover_clients.py::test_admins_never_hang[java-to-",
    "tests/clients/test_failover_clients.py::test_no_connection_is_left_behind[java-to-",
    "tests/clients/test_failover_clients.py::test_clients_name_the_cluster_they_mean[java-to-",
    "tests/clients/test_failover_clients.py::test_inventory[java-to-",
    "tests/clients/test_failover_clients.py::test_leader_epochs_go_back[java-to-",
    "tests/clients/test_failover_alike.py::test_each_follows[confluent-kafka]",
    "tests/clients/test_failover_alike.py::test_each_follows[franz-go]",
    "tests/clients/test_failover_unmapped.py",  # 15
    # A half answer ends the connection, too; and librdkafka has all errors.
    "tests/clients/test_injected_faults.py::test_java[NOT_LEADER_OR_FOLLOWER]",
    "tests/clients/test_injected_faults.py::test_java[close]",
    "tests/clients/test_injected_faults.py::test_librdkafka[close]",
    "tests/clients/test_injected_faults.py::test_librdkafka[delay]",
    "tests/clients/test_injected_faults.py::test_java_gets_over_errors_of_every_api",
    "tests/clients/test_transactions.py::test_java_at_a_cluster_of_before_tv2",  # 10: a cluster of its own
    # 135: of SNI the gate has a client at one virtual cluster, and the names that lead nowhere.
    "tests/clients/tls/test_sni.py::test_every_acks_byte_exact[bills-",
    "tests/clients/tls/test_sni.py::test_every_acks_byte_exact[orders-kafka",
    "tests/clients/tls/test_sni.py::test_every_acks_byte_exact[orders-aiokafka]",
    "tests/clients/tls/test_sni.py::test_transactions",
    "tests/clients/tls/test_sni.py::test_java",
    "tests/clients/tls/test_sni.py::test_clients_that_live_long",
    "tests/clients/tls/test_sni.py::test_one_moves_to_another_port",
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
    "tests/faults/test_events.py::test_queues_that_are_full",  # 22
    "tests/faults/test_admin_attacks.py::test_large_pages[/api/v1/connections",
    "tests/faults/test_admin_attacks.py::test_probes_are_answered[200 ",
    # Refused as what the gate has: by a size, by an api, by a version, by a field.
    "tests/faults/test_bad_input.py::test_bad_bytes[size ",
    "tests/faults/test_bad_input.py::test_bad_bytes[negative version]",
    "tests/faults/test_bad_input.py::test_bad_bytes[unknown api key]",
    "tests/faults/test_bad_input.py::test_bad_bytes[random bytes]",
    # 54: of replicas that agree the gate has one order, before real clients.
    "tests/faults/test_agreement.py::test_a_",
    "tests/faults/test_agreement.py::test_an_",
    "tests/faults/test_agreement.py::test_opposite_orders_at_once",
    "tests/faults/test_agreement.py::test_random_schedules",
    "tests/faults/test_agreement.py::test_records_of_strangers",
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
    # Spark has a name for these; for the log of files that were read, which the gate has, it has none.
    "tests/pipeline/ingest/test_bad_input.py::test_an_entry_of_another_job[offsets]",
    "tests/pipeline/ingest/test_bad_input.py::test_an_entry_of_another_job[commits]",
    "tests/pipeline/report/test_browser.py",
    "tests/pipeline/test_clusters.py",
)
