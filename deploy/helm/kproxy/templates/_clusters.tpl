{{- /* Ports of one virtual cluster, as JSON: {bootstrap, first, nodes: [{id, port}]}; compact, as kproxy's strategy "offset". */ -}}
{{- define "kproxy.ports" -}}
{{- $bootstrap := int (default 9092 .port) -}}
{{- $first := int (default (add1 $bootstrap) .nodes.firstPort) -}}
{{- $nodes := list -}}
{{- $ids := dict -}}
{{- range .nodes.ranges -}}
  {{- $from := splitList "-" . | first | int -}}
  {{- $to := splitList "-" . | last | int -}}
  {{- if gt $to 2147483647 -}}
    {{- fail (printf "clusters: %s: nodes.ranges: %s: the highest node id of Kafka is 2147483647" $.name .) -}}
  {{- end -}}
  {{- if lt $to $from -}}
    {{- fail (printf "clusters: %s: nodes.ranges: %s ends before it begins" $.name .) -}}
  {{- end -}}
  {{- if gt (add (len $nodes) (sub $to $from)) 98 -}}
    {{- fail (printf "clusters: %s: nodes.ranges: more than 99 nodes; Kubernetes allows 100 ports for a Service: give each cluster fewer" $.name) -}}
  {{- end -}}
  {{- range $id := untilStep $from (int (add1 $to)) 1 -}}
    {{- if hasKey $ids (toString $id) -}}
      {{- fail (printf "clusters: %s: nodes.ranges: node %d is named twice" $.name $id) -}}
    {{- end -}}
    {{- $_ := set $ids (toString $id) true -}}
    {{- $nodes = append $nodes (dict "id" (toString $id) "port" (add $first (len $nodes))) -}}
  {{- end -}}
{{- end -}}
{{- if gt (add $first (len $nodes) -1) 65535 -}}
  {{- fail (printf "clusters: %s: nodes.firstPort: %d leaves no room for %d nodes below 65536" .name $first (len $nodes)) -}}
{{- end -}}
{{- dict "bootstrap" $bootstrap "first" $first "nodes" $nodes | toJson -}}
{{- end -}}

{{- /* All virtual clusters live in one pod: no name and no port may occur twice. Renders nothing. */ -}}
{{- define "kproxy.check" -}}
{{- $owners := dict (toString .Values.admin.port) "admin.port" -}}
{{- $names := list -}}
{{- range $cluster := .Values.clusters -}}
  {{- if has $cluster.name $names -}}
    {{- fail (printf "clusters: the name %s is given twice" $cluster.name) -}}
  {{- end -}}
  {{- $names = append $names $cluster.name -}}
  {{- if and $cluster.bootstrapServers $cluster.upstreams -}}
    {{- fail (printf "clusters: %s: give either bootstrapServers or upstreams, not both" $cluster.name) -}}
  {{- end -}}
  {{- $upstreams := list -}}
  {{- range $cluster.upstreams -}}
    {{- if has .name $upstreams -}}
      {{- fail (printf "clusters: %s: upstreams: the name %s is given twice" $cluster.name .name) -}}
    {{- end -}}
    {{- $upstreams = append $upstreams .name -}}
  {{- end -}}
  {{- if and (dig "failover" "automatic" false $cluster) (lt (len $upstreams) 2) -}}
    {{- fail (printf "clusters: %s: failover.automatic: needs at least two upstreams" $cluster.name) -}}
  {{- end -}}
  {{- if and $cluster.groups (ne (int $.Values.replicas) 1) -}}
    {{- fail (printf "clusters: %s: groups: needs replicas: 1: each replica would have groups of its own, and two members would get the same partition" $cluster.name) -}}
  {{- end -}}
  {{- $ports := include "kproxy.ports" $cluster | fromJson -}}
  {{- range concat (list (dict "id" "bootstrap" "port" $ports.bootstrap)) $ports.nodes -}}
    {{- $port := .port | int | toString -}}
    {{- $owner := printf "cluster %s (%s)" $cluster.name (ternary "bootstrap" (printf "node %s" .id) (eq .id "bootstrap")) -}}
    {{- if hasKey $owners $port -}}
      {{- fail (printf "clusters: port %s of %s is taken by %s" $port $owner (get $owners $port)) -}}
    {{- end -}}
    {{- $_ := set $owners $port $owner -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{- /* "true" where a virtual cluster hosts groups: then no two pods may serve it at once, not even in a rollout. */ -}}
{{- define "kproxy.alone" -}}
{{- range .Values.clusters -}}
  {{- if .groups -}}
true
  {{- end -}}
{{- end -}}
{{- end -}}

{{- define "kproxy.serviceName" -}}
{{- printf "%s-%s" (include "kproxy.fullname" .root) .cluster.name -}}
{{- end -}}

{{- /* kproxy's own configuration. Ports follow from the configuration alone, so every replica answers alike. */ -}}
{{- define "kproxy.config" -}}
{{- $clusters := list -}}
{{- range $cluster := .Values.clusters -}}
  {{- $ports := include "kproxy.ports" $cluster | fromJson -}}
  {{- $nodes := dict "strategy" "offset" "first_port" (int $ports.first) "ranges" $cluster.nodes.ranges -}}
  {{- with $cluster.nodes.advertisedFirstPort -}}
    {{- $_ := set $nodes "advertised_first_port" (int .) -}}
  {{- end -}}
  {{- $host := printf "%s.%s.svc" (include "kproxy.serviceName" (dict "root" $ "cluster" $cluster)) $.Release.Namespace -}}
  {{- $own := dict
      "name" $cluster.name
      "listen" (printf "%s:%d" $.Values.bindAddress (int $ports.bootstrap))
      "advertised_host" (default $host $cluster.advertisedHost)
      "nodes" $nodes -}}
  {{- with $cluster.bootstrapServers -}}
    {{- $_ := set $own "bootstrap_servers" . -}}
  {{- end -}}
  {{- $upstreams := list -}}
  {{- range $cluster.upstreams -}}
    {{- $upstream := dict "name" .name "bootstrap_servers" .bootstrapServers -}}
    {{- if hasKey . "tls" -}}
      {{- $_ := set $upstream "tls" (include "kproxy.snake" .tls | fromYaml) -}}
    {{- end -}}
    {{- with .identity -}}
      {{- $_ := set $upstream "identity" (include "kproxy.snake" . | fromYaml) -}}
    {{- end -}}
    {{- $upstreams = append $upstreams $upstream -}}
  {{- end -}}
  {{- with $upstreams -}}
    {{- $_ := set $own "upstreams" . -}}
  {{- end -}}
  {{- with $cluster.failover -}}
    {{- $failover := omit . "hideTopicIdsFrom" "separateProducerIds" -}}
    {{- if hasKey . "hideTopicIdsFrom" -}}
      {{- $_ := set $failover "hide_topic_ids_from" .hideTopicIdsFrom -}}
    {{- end -}}
    {{- if hasKey . "separateProducerIds" -}}
      {{- $_ := set $failover "separate_producer_ids" .separateProducerIds -}}
    {{- end -}}
    {{- $_ := set $own "failover" $failover -}}
  {{- end -}}
  {{- if hasKey $cluster "telemetry" -}}
    {{- $telemetry := omit $cluster.telemetry "maxBytes" -}}
    {{- with $cluster.telemetry.maxBytes -}}
      {{- $_ := set $telemetry "max_bytes" . -}}
    {{- end -}}
    {{- $_ := set $own "telemetry" $telemetry -}}
  {{- end -}}
  {{- $groups := list -}}
  {{- range $cluster.groups -}}
    {{- $groups = append $groups (include "kproxy.snake" . | fromYaml) -}}
  {{- end -}}
  {{- with $groups -}}
    {{- $_ := set $own "groups" . -}}
  {{- end -}}
  {{- with $cluster.tls -}}
    {{- $_ := set $own "tls" (include "kproxy.snake" . | fromYaml) -}}
  {{- end -}}
  {{- if hasKey $cluster "upstreamTls" -}}
    {{- $_ := set $own "upstream_tls" (include "kproxy.snake" $cluster.upstreamTls | fromYaml) -}}
  {{- end -}}
  {{- with $cluster.maxConnections -}}
    {{- $_ := set $own "max_connections" (int .) -}}
  {{- end -}}
  {{- with $cluster.proxyProtocol -}}
    {{- $_ := set $own "proxy_protocol" . -}}
  {{- end -}}
  {{- with $cluster.identity -}}
    {{- $_ := set $own "identity" (include "kproxy.snake" . | fromYaml) -}}
  {{- end -}}
  {{- $clusters = append $clusters $own -}}
{{- end -}}
{{- $admin := dict "listen" (include "kproxy.admin" .) -}}
{{- with .Values.admin.allowedHosts -}}
  {{- $_ := set $admin "allowed_hosts" . -}}
{{- end -}}
{{- if .Values.admin.tokenSecret.name -}}
  {{- $_ := set $admin "token_file" (printf "/etc/kproxy-admin/%s" .Values.admin.tokenSecret.key) -}}
{{- end -}}
{{- $own := dict
    "clusters" $clusters
    "admin" $admin
    "drain" (dict "deadline" (int .Values.drain.deadlineSeconds) "rebootstrap" .Values.drain.rebootstrap) -}}
{{- mergeOverwrite (deepCopy .Values.config) $own | toYaml -}}
{{- end -}}

{{- /* A group of settings with kproxy's own names for them. */ -}}
{{- define "kproxy.snake" -}}
{{- $own := dict -}}
{{- range $key, $value := . -}}
  {{- $_ := set $own (snakecase $key) $value -}}
{{- end -}}
{{- $own | toYaml -}}
{{- end -}}

{{- define "kproxy.admin" -}}
{{- printf "%s:%d" .Values.bindAddress (int .Values.admin.port) -}}
{{- end -}}
