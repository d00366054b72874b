package manifests_test

import (
	"errors"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"

	"github.com/svcctl/svcctl/internal/client/manifests"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// needed are the values that have no default.
const needed = `
host: apps.example.com
secrets: {existing: svcctl}
s3: {endpoint: "https://s3.example.com", region: eu-west-1, secret: svcctl-s3}
`

// everything turns on what is off by default.
const everything = needed + `
apiHost: deploy.example.com
publicURL: https://visitors.example.com:8443
image: {ref: "registry.example.com/svcctl:v1", pullPolicy: Always, pullSecrets: [registry]}
controlPlane:
  settings: {SVC_DURABILITY: sync, SVC_ORCH_WORKERS: "4"}
  nodeSelector: {disk: fast}
  tolerations: [{key: svcctl, operator: Exists}]
  annotations: {example.com/a: b}
  service: {annotations: {example.com/c: d}}
hosts:
  spares: 5
  runtimeClassName: gvisor
  nodeSelector: {pool: workers}
  tolerations: [{key: workers, operator: Exists, effect: NoSchedule}]
  annotations: {example.com/e: f}
  podTemplate:
    metadata: {labels: {team: web}, annotations: {example.com/g: h}}
    spec: {priorityClassName: workers, hostUsers: false, terminationGracePeriodSeconds: 45, securityContext: {fsGroupChangePolicy: OnRootMismatch}}
gateway:
  autoscaling: {enabled: true, minReplicas: 3}
  trustedProxies: 10.0.0.0/8
  settings: {SVC_GATEWAY_ENGINE: go}
  nodeSelector: {edge: "true"}
  tolerations: [{operator: Exists}]
  annotations: {example.com/i: j}
  service: {type: LoadBalancer, port: 80, annotations: {example.com/k: l}, externalTrafficPolicy: Local}
ingress: {enabled: true, className: nginx, annotations: {example.com/m: text}, tlsSecret: wildcard}
networkPolicy:
  objectStore: [{ipBlock: {cidr: 10.9.0.0/16}}]
  api: [{namespaceSelector: {matchLabels: {team: ci}}}]
  visitors: [{namespaceSelector: {matchLabels: {team: ingress}}}]
monitoring: {serviceMonitor: true, labels: {release: prometheus}}
trialStore: {enabled: true, storageClassName: fast}
`

// values are those of the chart with own ones over them.
func values(t testing.TB, own string) map[string]any {
	t.Helper()
	base, err := manifests.Defaults()
	if err != nil {
		t.Fatal(err)
	}
	over, err := manifests.ParseValues([]byte(own))
	if err != nil {
		t.Fatal(err)
	}
	return manifests.Merge(base, over)
}

func render(t testing.TB, own string) []manifests.Object {
	t.Helper()
	list, err := manifests.Render(manifests.Release{Namespace: "svcctl", Version: "v1.2.3", Values: values(t, own)})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestGolden: what an installation with the defaults consists of.
func TestGolden(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	for _, o := range render(t, needed) {
		out.WriteString("---\n" + o.Text)
	}
	svctest.Golden(t, "testdata/default.yaml", out.String())
}

// decoder knows the types of Kubernetes and refuses unknown and repeated fields.
func decoder(t testing.TB) runtime.Decoder {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		appsv1.AddToScheme, autoscalingv2.AddToScheme, corev1.AddToScheme, networkingv1.AddToScheme, policyv1.AddToScheme, rbacv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range []string{"ServiceMonitor", "PodMonitor"} {
		scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: kind}, &monitor{})
	}
	return json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{Yaml: true, Strict: true})
}

// monitor has the fields of the Prometheus Operator's objects that the chart uses.
type monitor struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Selector            metav1.LabelSelector `json:"selector"`
		Endpoints           []endpoint           `json:"endpoints"`
		PodMetricsEndpoints []endpoint           `json:"podMetricsEndpoints"`
	} `json:"spec"`
}

type endpoint struct {
	Port string `json:"port"`
	Path string `json:"path"`
}

func (m *monitor) DeepCopyObject() runtime.Object { c := *m; return &c }

// decoded are objects of own values in the types of Kubernetes.
func decoded(t testing.TB, own string) []runtime.Object {
	t.Helper()
	dec := decoder(t)
	var list []runtime.Object
	for _, o := range render(t, own) {
		object, _, err := dec.Decode([]byte(o.Text), nil, nil)
		if err != nil {
			t.Errorf("%s %s: %v\n%s", o.Kind, o.Name, err, o.Text)
			continue
		}
		list = append(list, object)
	}
	return list
}

// TestObjects: each object is one that Kubernetes knows, in the namespace, and none is there twice.
func TestObjects(t *testing.T) {
	t.Parallel()
	for name, own := range map[string]string{"needed": needed, "everything": everything} {
		seen := map[string]bool{}
		for _, object := range decoded(t, own) {
			meta, ok := object.(metav1.Object)
			key := object.GetObjectKind().GroupVersionKind().Kind + "/" + meta.GetName()
			if !ok || meta.GetNamespace() != "svcctl" || meta.GetLabels()["app.kubernetes.io/name"] != "svcctl" || seen[key] {
				t.Errorf("%s: %s in namespace %q with %v (twice: %t)", name, key, meta.GetNamespace(), meta.GetLabels(), seen[key])
			}
			seen[key] = true
		}
		if want := map[string]int{"needed": 16, "everything": 24}[name]; len(seen) != want {
			t.Errorf("%s: %d objects, want %d: %v", name, len(seen), want, seen)
		}
	}
}

// TestDecoderRefuses: what TestObjects takes for an error.
func TestDecoderRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {port: 80}\n", "apiVersion: v1\nkind: Service\nmetadata: {name: a, name: b}\n",
		"apiVersion: apps/v1\nkind: Deployment\nspec: {template: {spec: {containers: [{Name: a}]}}}\n", "apiVersion: v1\nkind: Servant\n",
	} {
		if object, _, err := decoder(t).Decode([]byte(text), nil, nil); err == nil {
			t.Errorf("%s is decoded: %v", text, object)
		}
	}
}

// find returns the object of a type with a name.
func find[T metav1.Object](t testing.TB, list []runtime.Object, name string) T {
	t.Helper()
	for _, object := range list {
		if o, ok := object.(T); ok && o.GetName() == name {
			return o
		}
	}
	t.Fatalf("no %T %s", *new(T), name)
	panic("unreachable")
}

// TestSelectors: Deployments, Services and budgets select the pods that they mean, and Services of the
// control plane only the one that leads.
func TestSelectors(t *testing.T) {
	t.Parallel()
	list := decoded(t, everything)
	for service, deployment := range map[string]string{
		"svcctl": "svcctl", "svcctl-hosts": "svcctl", "svcctl-gateways": "svcctl", "svcctl-gateway": "svcctl-gateway", "svcctl-store": "svcctl-store",
	} {
		s, d := find[*corev1.Service](t, list, service), find[*appsv1.Deployment](t, list, deployment)
		labels := d.Spec.Template.Labels
		_, leader := s.Spec.Selector["svcctl.dev/leader"]
		if want := deployment == "svcctl"; leader != want {
			t.Errorf("Service %s selects the leader: %t, want %t", service, leader, want)
		}
		for name, value := range s.Spec.Selector {
			if name != "svcctl.dev/leader" && labels[name] != value {
				t.Errorf("Service %s wants %s=%s, pods of %s have %v", service, name, value, deployment, labels)
			}
		}
		port := s.Spec.Ports[0].TargetPort.StrVal
		if !hasPort(d.Spec.Template.Spec.Containers[0], port) {
			t.Errorf("Service %s: %s has no port %q", service, deployment, port)
		}
	}
	spare := find[*appsv1.Deployment](t, list, "svcctl-spare")
	if spare.Spec.Selector.MatchLabels["svcctl.dev/spare"] != "true" || *spare.Spec.Replicas != 5 {
		t.Errorf("spares: %+v", spare.Spec.Selector)
	}
	policy := find[*networkingv1.NetworkPolicy](t, list, "svcctl-host")
	if _, only := policy.Spec.PodSelector.MatchLabels["svcctl.dev/spare"]; only || !onlyFrom(policy.Spec.Ingress, "direct", "gateway") {
		t.Errorf("the policy of worker hosts has to hold for claimed ones, and let only gateways in: %+v", policy.Spec)
	}
	if !hasPort(spare.Spec.Template.Spec.Containers[0], "direct") {
		t.Error("worker hosts have no port for gateways")
	}
}

// onlyFrom reports whether rules let nothing in but the pods of a component, at a port.
func onlyFrom(rules []networkingv1.NetworkPolicyIngressRule, port, component string) bool {
	if len(rules) != 1 || len(rules[0].Ports) != 1 || len(rules[0].From) != 1 {
		return false
	}
	from := rules[0].From[0]
	return rules[0].Ports[0].Port.StrVal == port && from.NamespaceSelector == nil && from.IPBlock == nil &&
		from.PodSelector != nil && from.PodSelector.MatchLabels["app.kubernetes.io/component"] == component
}

func hasPort(c corev1.Container, name string) bool {
	for _, p := range c.Ports {
		if p.Name == name {
			return true
		}
	}
	return false
}

// TestPodTemplate: hosts.podTemplate is merged over the template of spares.
func TestPodTemplate(t *testing.T) {
	t.Parallel()
	spec := find[*appsv1.Deployment](t, decoded(t, everything), "svcctl-spare").Spec.Template
	security := spec.Spec.SecurityContext
	if spec.Labels["team"] != "web" || spec.Labels["svcctl.dev/spare"] != "true" || spec.Annotations["example.com/g"] != "h" || spec.Annotations["example.com/e"] != "f" {
		t.Errorf("metadata: %+v", spec.ObjectMeta)
	}
	if spec.Spec.PriorityClassName != "workers" || *spec.Spec.HostUsers || *spec.Spec.TerminationGracePeriodSeconds != 45 ||
		*security.FSGroupChangePolicy != corev1.FSGroupChangeOnRootMismatch || !*security.RunAsNonRoot || *spec.Spec.RuntimeClassName != "gvisor" {
		t.Errorf("spec: %+v", spec.Spec)
	}
}

// TestSpareHasNoSecret: a spare has the certificate of the control plane, and a token for it alone.
func TestSpareHasNoSecret(t *testing.T) {
	t.Parallel()
	spec := find[*appsv1.Deployment](t, decoded(t, everything), "svcctl-spare").Spec.Template.Spec
	if spec.AutomountServiceAccountToken == nil || *spec.AutomountServiceAccountToken {
		t.Error("the token of the service account is mounted")
	}
	for _, v := range spec.Volumes {
		if v.Secret != nil {
			t.Errorf("volume %s is the Secret %s", v.Name, v.Secret.SecretName)
		}
		if v.Projected != nil && (len(v.Projected.Sources) != 1 || v.Projected.Sources[0].ServiceAccountToken.Audience != "svcctl") {
			t.Errorf("volume %s: %+v", v.Name, v.Projected.Sources)
		}
	}
	for _, e := range spec.Containers[0].Env {
		if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
			t.Errorf("variable %s is a Secret", e.Name)
		}
	}
}

// wrongValues are values that cannot be, and what is said about them.
func wrongValues() map[string]string {
	return map[string]string{
		"": "host is not set", "host: a.example": "s3.endpoint is not set", "host: a.example\ns3: {endpoint: http://s3}": "s3.secret is not set",
		"host: a.example\ns3: {endpoint: http://s3, secret: x}":            "secrets.existing is not set",
		needed + "ingress: {enabled: true}":                                "gateway.trustedProxies is not set",
		needed + "hosts: {seats: 2}":                                       "hosts.seats: unknown value",
		needed + "hosts: {spares: two}":                                    "hosts.spares: want integer, got string",
		needed + "gateway: {settings: {A: 1}}":                             "gateway.settings.A: want string, got integer",
		needed + "image: {pullPolicy: Sometimes}":                          "image.pullPolicy: want one of [\"Always\" \"IfNotPresent\" \"Never\"]",
		needed + "controlPlane: {settings: {SVC_RUNTIME: local}}":          "controlPlane.settings.SVC_RUNTIME: the chart sets it itself",
		needed + "hosts: {podTemplate: {spec: {containers: []}}}":          "hosts.podTemplate.spec.containers: the chart sets it itself",
		needed + "hosts: {podTemplate: {spec: {volumes: []}}, spares: -1}": "hosts.spares: want at least 0, got -1",
		"host: https://apps.example.com":                                   "host: ", "hosts: null": "values: hosts is missing", "gateway: {replicas: null}": "gateway: replicas is missing",
	}
}

// TestWrongValues: what is said about values that cannot be.
func TestWrongValues(t *testing.T) {
	t.Parallel()
	for own, want := range wrongValues() {
		_, err := manifests.Render(manifests.Release{Namespace: "svcctl", Version: "v1", Values: values(t, own)})
		if invalid, ok := errors.AsType[*manifests.ValueError](err); !ok || !strings.Contains(invalid.Error(), want) {
			t.Errorf("%s: got %v, want %q", own, err, want)
		}
	}
}

// TestImage: the image has the name that make image gives it.
func TestImage(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{"v1.2.3": "svcctl:v1.2.3", "v1.2.3-4-gabcdef0": "svcctl:v1.2.3-4-gabcdef0", "v1.2.3+dirty": "svcctl:latest", "(devel)": "svcctl:latest"} {
		list, err := manifests.Render(manifests.Release{Namespace: "a", Version: version, Values: values(t, needed)})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range list {
			if o.Kind == "Deployment" && !strings.Contains(o.Text, "image: "+want+"\n") && !strings.Contains(o.Text, `image: "`+want+`"`+"\n") {
				t.Errorf("%s: %s does not have %s", version, o.Name, want)
			}
		}
	}
}
