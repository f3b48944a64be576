{{- /* Ports of one virtual cluster, as JSON: {bootstrap, first, nodes: [{id, port}]}; compact, as kproxy's strategy "offset".
With names (strategy "sni") there is no port for nodes. */ -}}
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
  {{- if and (eq $cluster.name "sni") (not (include "kproxy.byName" $cluster)) (include "kproxy.sharedPorts" $ | fromJson).ports -}}
    {{- fail "clusters: the name sni is that of the Service for virtual clusters whose nodes have names" -}}
  {{- end -}}
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
  {{- range tuple "controlTopic" "configMap" -}}
    {{- if and (dig "failover" . false $cluster) (lt (len $upstreams) 2) -}}
      {{- fail (printf "clusters: %s: failover.%s: needs at least two upstreams" $cluster.name .) -}}
    {{- end -}}
  {{- end -}}
  {{- if and (dig "failover" "controlTopic" false $cluster) (dig "failover" "configMap" false $cluster) -}}
    {{- fail (printf "clusters: %s: failover: give either controlTopic or configMap, not both" $cluster.name) -}}
  {{- end -}}
  {{- if and $cluster.groups (ne (int $.Values.replicas) 1) -}}
    {{- fail (printf "clusters: %s: groups: needs replicas: 1: each replica would have groups of its own, and two members would get the same partition" $cluster.name) -}}
  {{- end -}}
  {{- if and $cluster.groups $.Values.drain.rebootstrap -}}
    {{- fail (printf "clusters: %s: groups: go with drain.rebootstrap: false: members wait for this kproxy, there is no other one to go to" $cluster.name) -}}
  {{- end -}}
  {{- $ports := include "kproxy.ports" $cluster | fromJson -}}
  {{- if and (include "kproxy.byName" $cluster) $cluster.nodePort $cluster.nodes.advertisedPort (ne (int $cluster.nodePort) (int $cluster.nodes.advertisedPort)) -}}
    {{- fail (printf "clusters: %s: nodePort: %d must be nodes.advertisedPort, where nodes have names: there is one port" $cluster.name (int $cluster.nodePort)) -}}
  {{- end -}}
  {{- range concat (list (dict "id" "bootstrap" "port" $ports.bootstrap)) $ports.nodes -}}
    {{- $port := .port | int | toString -}}
    {{- $owner := printf "cluster %s (%s)" $cluster.name (ternary "bootstrap" (printf "node %s" .id) (eq .id "bootstrap")) -}}
    {{- if include "kproxy.byName" $cluster -}}
      {{- $owner = "virtual clusters whose nodes have names" -}}
    {{- end -}}
    {{- if and (hasKey $owners $port) (not (and (include "kproxy.byName" $cluster) (eq $owner (get $owners $port)))) -}}
      {{- fail (printf "clusters: port %s of %s is taken by %s" $port $owner (get $owners $port)) -}}
    {{- end -}}
    {{- $_ := set $owners $port $owner -}}
  {{- end -}}
{{- end -}}
{{- if and (include "kproxy.claims" .) (ne (int .Values.replicas) 1) -}}
  {{- fail "config.state.path: is on a PersistentVolumeClaim, and one pod at a time can have the state open: needs replicas: 1" -}}
{{- end -}}
{{- if and (include "kproxy.agrees" .) (not .Values.serviceAccount.create) (not .Values.serviceAccount.name) -}}
  {{- fail "failover.configMap: needs a ServiceAccount of its own (serviceAccount.create or .name): every pod of the namespace could switch the clients by the one called default" -}}
{{- end -}}
{{- end -}}

{{- /* "true" where no two pods may run at once, not even in a rollout: a virtual cluster hosts groups, or the state is on a
       claim, which the new pod would wait for in vain. */ -}}
{{- define "kproxy.alone" -}}
{{- range .Values.clusters -}}
  {{- if .groups -}}
true
  {{- end -}}
{{- end -}}
{{- include "kproxy.claims" . -}}
{{- end -}}

{{- /* "true" where the state's file is on a PersistentVolumeClaim: one process at a time has it open. */ -}}
{{- define "kproxy.claims" -}}
{{- $path := dig "state" "path" "" .Values.config -}}
{{- range $mount := .Values.extraVolumeMounts -}}
  {{- range $volume := $.Values.extraVolumes -}}
    {{- if and (eq $volume.name $mount.name) (hasKey $volume "persistentVolumeClaim") (hasPrefix (printf "%s/" (trimSuffix "/" $mount.mountPath)) $path) -}}
true
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{- /* "true" where a port is below 1024, which only root may open on most machines. */ -}}
{{- define "kproxy.lowPort" -}}
{{- $ports := list .Values.admin.port -}}
{{- range .Values.clusters -}}
  {{- $ports = append $ports (int (default 9092 .port)) -}}
  {{- if .nodes.firstPort -}}
    {{- $ports = append $ports .nodes.firstPort -}}
  {{- end -}}
{{- end -}}
{{- range $ports -}}
  {{- if lt (int .) 1024 -}}
true
  {{- end -}}
{{- end -}}
{{- end -}}

{{- /* "true" where replicas agree by a ConfigMap: then, and only then, kproxy has a token for Kubernetes' API. */ -}}
{{- define "kproxy.agrees" -}}
{{- range .Values.clusters -}}
  {{- if dig "failover" "configMap" false . -}}
true
  {{- end -}}
{{- end -}}
{{- end -}}

{{- /* "true" where a virtual cluster has several upstreams and replicas, and nothing by which these agree. */ -}}
{{- define "kproxy.disagrees" -}}
{{- $failover := default dict .cluster.failover -}}
{{- if and (gt (len (default list .cluster.upstreams)) 1) (gt (int .root.Values.replicas) 1) (not $failover.controlTopic) (not $failover.configMap) -}}
true
{{- end -}}
{{- end -}}

{{- /* "true" where clients ask for a node by its name: such virtual clusters share ports, and one Service. */ -}}
{{- define "kproxy.byName" -}}
{{- if eq (default "offset" .nodes.strategy) "sni" -}}
true
{{- end -}}
{{- end -}}

{{- /* The ports that names share, as JSON: {ports: [{name, port, nodePort}]}, each once. */ -}}
{{- define "kproxy.sharedPorts" -}}
{{- $ports := list -}}
{{- $known := dict -}}
{{- range .Values.clusters -}}
  {{- if include "kproxy.byName" . -}}
    {{- $port := int (default 9092 .port) -}}
    {{- $nodePort := int (default 0 .nodes.advertisedPort) -}}
    {{- if not (hasKey $known (toString $port)) -}}
      {{- $ports = append $ports (dict "name" (printf "clients-%d" $port) "port" $port "nodePort" $nodePort) -}}
      {{- $_ := set $known (toString $port) $nodePort -}}
    {{- else if ne (int (get $known (toString $port))) $nodePort -}}
      {{- fail (printf "clusters: %s: nodes.advertisedPort: must be that of the other virtual clusters at port %d" .name $port) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- dict "ports" $ports | toJson -}}
{{- end -}}

{{- define "kproxy.serviceName" -}}
{{- printf "%s-%s" (include "kproxy.fullname" .root) (ternary "sni" .cluster.name (eq (include "kproxy.byName" .cluster) "true")) -}}
{{- end -}}

{{- /* kproxy's own configuration. Ports follow from the configuration alone, so every replica answers alike. */ -}}
{{- define "kproxy.config" -}}
{{- $clusters := list -}}
{{- range $cluster := .Values.clusters -}}
  {{- $ports := include "kproxy.ports" $cluster | fromJson -}}
  {{- $nodes := dict "strategy" "offset" "first_port" (int $ports.first) "ranges" $cluster.nodes.ranges -}}
  {{- if include "kproxy.byName" $cluster -}}
    {{- $nodes = dict "strategy" "sni" "pattern" $cluster.nodes.pattern -}}
  {{- end -}}
  {{- with $cluster.nodes.advertisedFirstPort -}}
    {{- $_ := set $nodes "advertised_first_port" (int .) -}}
  {{- end -}}
  {{- with $cluster.nodes.advertisedPort -}}
    {{- $_ := set $nodes "advertised_port" (int .) -}}
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
    {{- $failover := omit . "hideTopicIdsFrom" "separateProducerIds" "standbyInterval" "controlTopic" "configMap" -}}
    {{- with .controlTopic -}}
      {{- $_ := set $failover "control_topic" . -}}
    {{- end -}}
    {{- if .configMap -}}
      {{- $_ := set $failover "config_map" (include "kproxy.orders" $) -}}
    {{- end -}}
    {{- with .standbyInterval -}}
      {{- $_ := set $failover "standby_interval" . -}}
    {{- end -}}
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
  {{- with $cluster.maxConnectionsPerPrincipal -}}
    {{- $_ := set $own "max_connections_per_principal" (int .) -}}
  {{- end -}}
  {{- with $cluster.byteRates -}}
    {{- $_ := set $own "byte_rates" . -}}
  {{- end -}}
  {{- with $cluster.proxyProtocol -}}
    {{- $_ := set $own "proxy_protocol" . -}}
  {{- end -}}
  {{- with $cluster.identity -}}
    {{- $_ := set $own "identity" (include "kproxy.snake" . | fromYaml) -}}
  {{- end -}}
  {{- with $cluster.authentication -}}
    {{- $authentication := include "kproxy.snake" (omit . "oauthbearer") | fromYaml -}}
    {{- with .oauthbearer -}}
      {{- $tokens := include "kproxy.snake" (omit . "requiredClaims") | fromYaml -}}
      {{- with .requiredClaims -}}
        {{- $_ := set $tokens "required_claims" . -}}
      {{- end -}}
      {{- $_ := set $authentication "oauthbearer" $tokens -}}
    {{- end -}}
    {{- $_ := set $own "authentication" $authentication -}}
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
{{- with .Values.admin.tls -}}
{{- if .secretName -}}
  {{- $tls := dict "certificate" "/etc/kproxy-admin-tls/tls.crt" "key" "/etc/kproxy-admin-tls/tls.key" -}}
  {{- with .clientCaKey -}}
    {{- $_ := set $tls "client_ca" (printf "/etc/kproxy-admin-tls/%s" .) -}}
  {{- end -}}
  {{- with .clientNames -}}
    {{- $_ := set $tls "client_names" . -}}
  {{- end -}}
  {{- $_ := set $admin "tls" $tls -}}
{{- end -}}
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
  {{- if kindIs "map" $value -}}
    {{- $value = include "kproxy.snake" $value | fromYaml -}}
  {{- end -}}
  {{- $_ := set $own (snakecase $key) $value -}}
{{- end -}}
{{- $own | toYaml -}}
{{- end -}}

{{- define "kproxy.adminScheme" -}}
{{- if .Values.admin.tls.secretName }}https{{ else }}http{{ end -}}
{{- end -}}

{{- /* A name that the admin port's certificate has. */ -}}
{{- define "kproxy.adminServerName" -}}
{{- .Values.admin.tls.serverName | default (printf "%s.%s.svc" (include "kproxy.fullname" .) .Release.Namespace) -}}
{{- end -}}

{{- define "kproxy.admin" -}}
{{- printf "%s:%d" .Values.bindAddress (int .Values.admin.port) -}}
{{- end -}}
