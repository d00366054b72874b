#!/bin/bash
# cluster.sh: a real Kubernetes on this machine, without Docker or a registry. etcd, API server,
# controllers and scheduler run here; each node (containerd, kubelet, kube-proxy) has a network namespace.
#
#   cluster.sh up [N]                start the control plane and N nodes (3)
#   cluster.sh image NAME FILE.tar   load an image archive into every node
#   cluster.sh policies PROGRAM      enforce NetworkPolicies on the nodes that are there, by kube-router
#   cluster.sh cut N | heal N        pull the network cable of node N, put it back
#   cluster.sh kill N                SIGKILL kubelet, containerd and every container of node N
#   cluster.sh start N               start node N again
#   cluster.sh down                  end everything that it started, delete the state
#
# Needs root, Debian's etcd-server containerd runc containernetworking-plugins iptables, and
# KUBE_BIN, the program of ./hyperkube (6 CPU minutes the first time). KUBE_STATE holds all files;
# $KUBE_STATE/admin.conf is the kubeconfig of the administrator.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
state=${KUBE_STATE:-$PWD/state}
bin=${KUBE_BIN:?the program of ./hyperkube}
bridge=kbr0
gate=10.250.0.1

start() { # start NAME COMMAND...: in the background, its own session, pid and log on file
  local name=$1
  shift
  setsid "$@" >"$state/$name.log" 2>&1 </dev/null &
  echo $! >"$state/$name.pid"
}

stop() { # stop NAME [SIGNAL]: SIGKILL after 5 s
  local pid i
  [ -f "$state/$1.pid" ] || return 0
  pid=$(cat "$state/$1.pid")
  rm -f "$state/$1.pid"
  kill "-${2:-TERM}" "$pid" 2>/dev/null || return 0
  for i in $(seq 50); do
    grep -qs '^State:[[:space:]]*[^Z]' "/proc/$pid/status" || return 0
    sleep 0.1
  done
  kill -KILL "$pid" 2>/dev/null || true
}

kubeconfig() { # kubeconfig SERVER FILE
  cat >"$2" <<EOF
apiVersion: v1
kind: Config
clusters: [{name: k, cluster: {server: "https://$1:6443", insecure-skip-tls-verify: true}}]
users: [{name: admin, user: {token: $(cut -d, -f1 "$state/tokens.csv")}}]
contexts: [{name: k, context: {cluster: k, user: admin}}]
current-context: k
EOF
  chmod 600 "$2"
}

control_plane() {
  ip link add $bridge type bridge
  ip addr add $gate/24 dev $bridge
  ip addr add 10.250.0.2/24 dev $bridge # for an object store, which has another policy than the API server
  ip link set $bridge up
  sysctl -qw net.ipv4.ip_forward=1
  openssl genrsa -out "$state/sa.key" 2048 2>/dev/null
  echo "$(openssl rand -hex 16),admin,1,\"system:masters\"" >"$state/tokens.csv"
  kubeconfig 127.0.0.1 "$state/admin.conf"
  kubeconfig $gate "$state/kubelet.conf"
  start etcd etcd --data-dir "$state/etcd" --unsafe-no-fsync --listen-client-urls http://127.0.0.1:2379 \
    --advertise-client-urls http://127.0.0.1:2379 --listen-peer-urls http://127.0.0.1:2380
  start apiserver "$bin" kube-apiserver --etcd-servers http://127.0.0.1:2379 --cert-dir "$state/certs" --secure-port 6443 \
    --bind-address 0.0.0.0 --advertise-address $gate --service-cluster-ip-range 10.96.0.0/16 \
    --service-account-issuer https://kubernetes.default.svc --service-account-key-file "$state/sa.key" \
    --service-account-signing-key-file "$state/sa.key" --token-auth-file "$state/tokens.csv" --authorization-mode RBAC \
    --kubelet-preferred-address-types InternalIP
  local i
  for i in $(seq 200); do
    curl -ksf -H "Authorization: Bearer $(cut -d, -f1 "$state/tokens.csv")" https://127.0.0.1:6443/readyz >/dev/null && break
    [ "$i" -lt 200 ] || { echo "the API server did not come up: $state/apiserver.log" >&2; exit 1; }
    sleep 0.2
  done
  start kcm "$bin" kube-controller-manager --kubeconfig "$state/admin.conf" --service-account-private-key-file "$state/sa.key" \
    --root-ca-file "$state/certs/apiserver.crt" --leader-elect=false
  start scheduler "$bin" kube-scheduler --kubeconfig "$state/admin.conf" --leader-elect=false
}

pause_image() { # the image of the sandbox: a static program that waits for a signal
  mkdir -p "$state/pause/usr/bin"
  (cd "$here" && CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$state/pause/usr/bin/svcd" ./pause) # the entry point of ociimage
  go -C "$here/../../internal/tools" run ./ociimage -root "$state/pause" -arch "$(go env GOARCH)" -version pause -o "$state/pause.tar"
}

node() { # node N
  local n=$1 dir=$state/node$1 c
  mkdir -p "$dir/cni"
  ip netns add kube$n
  ip link add kube$n type veth peer name eth0 netns kube$n
  ip link set kube$n master $bridge up
  ip -n kube$n addr add 10.250.0.1$n/24 dev eth0
  ip -n kube$n link set eth0 up
  ip -n kube$n link set lo up
  ip -n kube$n route add default via $gate
  ip route replace 10.244.$n.0/24 via 10.250.0.1$n
  cat >"$dir/cni/10-bridge.conflist" <<EOF
{"cniVersion":"0.4.0","name":"pods$n","plugins":[
 {"type":"bridge","bridge":"cni0","isGateway":true,"hairpinMode":true,
  "ipam":{"type":"host-local","dataDir":"$dir/ipam","ranges":[[{"subnet":"10.244.$n.0/24"}]],"routes":[{"dst":"0.0.0.0/0"}]}},
 {"type":"portmap","capabilities":{"portMappings":true}}]}
EOF
  # restrict_oom_score_adj: without CAP_SYS_RESOURCE a sandbox cannot lower its OOM score, and runc dies without a word.
  cat >"$dir/containerd.toml" <<EOF
version = 2
root = "$dir/containerd"
state = "$dir/containerd-state"
[grpc]
  address = "$dir/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  sandbox_image = "docker.io/local/pause:1"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$dir/cni"
EOF
  cat >"$dir/kubelet.yaml" <<EOF
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
failSwapOn: false
cgroupDriver: cgroupfs
cgroupRoot: /kube$n
enforceNodeAllocatable: []
containerRuntimeEndpoint: unix://$dir/containerd.sock
podLogsDir: $dir/logs
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
evictionHard: {memory.available: "100Mi", nodefs.available: "1%", imagefs.available: "1%"}
imageGCHighThresholdPercent: 100
EOF
  for c in /sys/fs/cgroup/*/; do
    [ -e "$c/cgroup.procs" ] && mkdir -p "$c/kube$n"
    if [ -e "$c/cpuset.cpus" ]; then
      cat "$c/cpuset.cpus" >"$c/kube$n/cpuset.cpus"
      cat "$c/cpuset.mems" >"$c/kube$n/cpuset.mems"
    fi
  done
  run_node "$n"
}

run_node() { # run_node N: the processes of a node that has its files
  local n=$1 dir=$state/node$1 c
  # nsenter, not `ip netns exec`: that one mounts a new /sys, without the cgroups.
  start containerd$n nsenter --net=/run/netns/kube$n containerd -c "$dir/containerd.toml"
  for c in $(seq 100); do [ -S "$dir/containerd.sock" ] && ctr -a "$dir/containerd.sock" version >/dev/null 2>&1 && break; sleep 0.1; done
  ctr -a "$dir/containerd.sock" -n k8s.io images import --index-name docker.io/local/pause:1 "$state/pause.tar" >/dev/null
  start kubelet$n nsenter --net=/run/netns/kube$n "$bin" kubelet --config "$dir/kubelet.yaml" --kubeconfig "$state/kubelet.conf" \
    --root-dir "$dir/kubelet" --hostname-override node$n --node-ip 10.250.0.1$n
  start proxy$n nsenter --net=/run/netns/kube$n "$bin" kube-proxy --kubeconfig "$state/kubelet.conf" --hostname-override node$n \
    --proxy-mode iptables --cluster-cidr 10.244.0.0/16 \
    --conntrack-max-per-core 0 --conntrack-tcp-timeout-established 0s --conntrack-tcp-timeout-close-wait 0s
}

policies() { # policies N PROGRAM
  nsenter --net=/run/netns/kube$1 sysctl -qw net.bridge.bridge-nf-call-iptables=1
  start policies$1 nsenter --net=/run/netns/kube$1 "$2" --run-firewall=true --run-router=false --run-service-proxy=false \
    --run-loadbalancer=false --kubeconfig "$state/kubelet.conf" --hostname-override node$1 --metrics-port 0
}

containers() { # containers N: the pids of node N's containers and their shims
  local p
  for p in /proc/[0-9]*; do
    grep -qs "/kube$1/" "$p/cgroup" && echo "${p#/proc/}"
    { tr '\0' ' ' <"$p/cmdline"; } 2>/dev/null | grep -q "containerd-shim.*$state/node$1/" && echo "${p#/proc/}"
  done
  return 0
}

case ${1:-} in
up)
  mkdir -p "$state"
  pause_image
  control_plane
  for n in $(seq "${2:-3}"); do node "$n"; done
  ;;
image) for s in "$state"/node*/containerd.sock; do ctr -a "$s" -n k8s.io images import --index-name "$2" "$3" >/dev/null; done ;;
policies) for n in "$state"/node*; do policies "${n##*node}" "$2"; done ;;
cut) ip link set "kube$2" down ;;
heal) ip link set "kube$2" up ;;
start) run_node "$2" ;;
kill)
  stop "kubelet$2" KILL
  stop "proxy$2" KILL
  stop "policies$2" KILL
  stop "containerd$2" KILL
  containers "$2" | xargs -rn1 kill -KILL 2>/dev/null || true # one may have ended meanwhile
  ;;
down)
  for f in "$state"/kubelet*.pid "$state"/policies*.pid "$state"/proxy*.pid "$state"/containerd*.pid; do [ -e "$f" ] && stop "$(basename "$f" .pid)"; done
  for d in "$state"/node*; do
    [ -d "$d" ] || continue
    n=${d##*node}
    containers "$n" | xargs -rn1 kill -KILL 2>/dev/null || true
    sleep 0.5
    { grep -o " $d/[^ ]*" /proc/mounts || true; } | sort -r | xargs -r umount -l
    ip link del "kube$n" 2>/dev/null || true
    ip netns del "kube$n" 2>/dev/null || true
  done
  for p in scheduler kcm apiserver etcd; do stop $p; done
  ip link del $bridge 2>/dev/null || true
  rm -rf "$state"
  ;;
*) sed -n '2,16p' "$0" ;;
esac
