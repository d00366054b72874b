package manifests_test

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// TestRestricted: each pod meets the Restricted Pod Security Standard, does not write its root
// directory, and has requests and a limit of memory.
func TestRestricted(t *testing.T) {
	t.Parallel()
	pods := 0
	for _, own := range []string{needed, everything} {
		for _, object := range decoded(t, own) {
			d, ok := object.(*appsv1.Deployment)
			if !ok {
				continue
			}
			pods++
			for _, problem := range violations(&d.Spec.Template) {
				t.Errorf("%s: %s", d.Name, problem)
			}
			if links := d.Spec.Template.Spec.EnableServiceLinks; links == nil || *links {
				t.Errorf("%s: the variables of Services are set", d.Name)
			}
		}
	}
	if pods != 3+4 {
		t.Errorf("%d Deployments", pods)
	}
}

// TestViolations: what TestRestricted takes for an error.
func TestViolations(t *testing.T) {
	t.Parallel()
	yes, no, root := true, false, int64(0)
	for want, change := range map[string]func(*corev1.PodSpec, *corev1.Container){
		"host namespaces":       func(s *corev1.PodSpec, _ *corev1.Container) { s.HostPID = true },
		"runs as root":          func(s *corev1.PodSpec, _ *corev1.Container) { s.SecurityContext.RunAsUser = &root },
		"may run as root":       func(s *corev1.PodSpec, _ *corev1.Container) { s.SecurityContext.RunAsNonRoot = &no },
		"no profile of seccomp": func(s *corev1.PodSpec, _ *corev1.Container) { s.SecurityContext.SeccompProfile = nil },
		"volume data is not allowed": func(s *corev1.PodSpec, _ *corev1.Container) {
			s.Volumes[0].EmptyDir = nil
			s.Volumes[0].HostPath = &corev1.HostPathVolumeSource{}
		},
		"host: privileged":          func(_ *corev1.PodSpec, c *corev1.Container) { c.SecurityContext.Privileged = &yes },
		"host: may gain privileges": func(_ *corev1.PodSpec, c *corev1.Container) { c.SecurityContext.AllowPrivilegeEscalation = nil },
		"host: capabilities": func(_ *corev1.PodSpec, c *corev1.Container) {
			c.SecurityContext.Capabilities.Add = []corev1.Capability{"SYS_ADMIN"}
		},
		"host: writes its root directory": func(_ *corev1.PodSpec, c *corev1.Container) { c.SecurityContext.ReadOnlyRootFilesystem = nil },
		"host: port of the node":          func(_ *corev1.PodSpec, c *corev1.Container) { c.Ports = []corev1.ContainerPort{{HostPort: 1}} },
		"host: no limit of memory":        func(_ *corev1.PodSpec, c *corev1.Container) { c.Resources.Limits = nil },
	} {
		for _, object := range decoded(t, needed) {
			if d, ok := object.(*appsv1.Deployment); ok && d.Name == "svcctl-spare" {
				change(&d.Spec.Template.Spec, &d.Spec.Template.Spec.Containers[0])
				if got := violations(&d.Spec.Template); !slices.Equal(got, []string{want}) {
					t.Errorf("%q, want %q", got, want)
				}
			}
		}
	}
}

func violations(pod *corev1.PodTemplateSpec) (list []string) {
	check := func(ok bool, problem string) {
		if !ok {
			list = append(list, problem)
		}
	}
	s := pod.Spec
	check(!s.HostNetwork && !s.HostPID && !s.HostIPC, "host namespaces")
	p := s.SecurityContext
	if p == nil {
		return []string{"no security context"}
	}
	check(p.RunAsUser == nil || *p.RunAsUser != 0, "runs as root")
	check(p.RunAsNonRoot != nil && *p.RunAsNonRoot, "may run as root")
	check(p.SeccompProfile != nil && p.SeccompProfile.Type == corev1.SeccompProfileTypeRuntimeDefault, "no profile of seccomp")
	check(len(p.Sysctls) == 0 && p.SELinuxOptions == nil && p.AppArmorProfile == nil, "settings of the kernel")
	for _, v := range s.Volumes {
		check(v.ConfigMap != nil || v.EmptyDir != nil || v.PersistentVolumeClaim != nil || v.Projected != nil || v.Secret != nil, "volume "+v.Name+" is not allowed")
	}
	for _, c := range slices.Concat(s.InitContainers, s.Containers) {
		list = append(list, ofContainer(c)...)
	}
	return list
}

func ofContainer(c corev1.Container) (list []string) {
	check := func(ok bool, problem string) {
		if !ok {
			list = append(list, c.Name+": "+problem)
		}
	}
	p := c.SecurityContext
	if p == nil {
		return []string{c.Name + ": no security context"}
	}
	check(p.Privileged == nil || !*p.Privileged, "privileged")
	check(p.AllowPrivilegeEscalation != nil && !*p.AllowPrivilegeEscalation, "may gain privileges")
	check(p.Capabilities != nil && slices.Equal(p.Capabilities.Drop, []corev1.Capability{"ALL"}) && len(p.Capabilities.Add) == 0, "capabilities")
	check(p.ReadOnlyRootFilesystem != nil && *p.ReadOnlyRootFilesystem, "writes its root directory")
	check(p.RunAsUser == nil && p.RunAsNonRoot == nil && p.SeccompProfile == nil && p.ProcMount == nil, "overrides the pod")
	for _, port := range c.Ports {
		check(port.HostPort == 0, "port of the node")
	}
	check(!c.Resources.Limits.Memory().IsZero(), "no limit of memory")
	check(!c.Resources.Requests.Memory().IsZero() && !c.Resources.Requests.Cpu().IsZero(), "no requests")
	return list
}
