package checkup

import (
	"context"
	"net/url"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// Addresses checks that the settings of a server that other machines reach give URLs that
// work there. pattern is the form of preview hosts; loopback says that only this machine
// reaches the ports.
// onDemand says that each host gets a certificate of its own.
func Addresses(gatewayURL, baseDomain, pattern string, loopback, onDemand bool) Check {
	return Check{"addresses", func(context.Context) svc.Finding {
		u, err := url.Parse(gatewayURL)
		public := err == nil && u.Hostname() != "localhost" && !strings.HasPrefix(u.Hostname(), "127.") && u.Hostname() != "::1"
		switch {
		case !public && loopback:
			return svc.Found(svc.FindingOK, "for this machine only: generated URLs have %s", gatewayURL)
		case !public:
			return svc.Found(svc.FindingWarning, "other machines reach the server, and generated URLs have %s", gatewayURL).
				WithAdvice("set GATEWAY_URL to the public origin of the gateway, such as https://apps.example.com")
		case strings.HasSuffix(baseDomain, ".local"):
			return svc.Found(svc.FindingFailed, "hosts are below %s, which no name server knows", baseDomain).
				WithAdvice("set SVC_INGRESS_BASE_DOMAIN to a domain of yours, such as apps.example.com")
		case u.Scheme == "https" && !onDemand && strings.Contains(pattern, "{version}.{project}"):
			return svc.Found(svc.FindingWarning, "previews at %s need a wildcard certificate for each project", pattern).
				WithAdvice("set SVC_PREVIEW_URL_TEMPLATE={scheme}://{version}--{project}.{baseDomain}:{port}: one certificate for *.%s covers all hosts", baseDomain)
		}
		return svc.Found(svc.FindingOK, "%s, hosts %s", gatewayURL, pattern)
	}}
}
