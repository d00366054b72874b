package svc

// The codes of own host names.
const (
	CodeDomainsOff       = "domains_off"
	CodeDomainInvalid    = "domain_invalid"
	CodeDomainReserved   = "domain_reserved"
	CodeDomainTaken      = "domain_taken"
	CodeDomainNotFound   = "domain_not_found"
	CodeDomainNotProved  = "domain_not_proved"
	CodeDomainTooMany    = "domain_too_many"
	CodeDomainWildcard   = "domain_wildcard"
	CodeDomainRedirected = "domain_redirected"
)

//nolint:gochecknoglobals // a constant table
var domainCodes = []CodeInfo{
	{CodeDomainsOff, []Kind{Conflict}, "The server serves no host names of other domains.", "Set SVC_DOMAINS=on on the server."},
	{CodeDomainInvalid, []Kind{Unprocessable}, "The text is no host name of a domain, or not one of the project.", "Name a host such as shop.example.com, without a port and a path."},
	{CodeDomainReserved, []Kind{Unprocessable}, "The host name belongs to the server, or is a public suffix.", "Choose a host outside of the server's base domain, below a domain of yours."},
	{CodeDomainTaken, []Kind{Conflict}, "Another project has the host name.", "Remove it there first."},
	{CodeDomainNotFound, []Kind{NotFound}, "The project has no such host name.", "List them with svcctl domains list."},
	{CodeDomainNotProved, []Kind{Conflict}, "The DNS text that proves the host name was not found.", "Write the record that svcctl domains list prints, wait until it is visible, and verify again."},
	{CodeDomainTooMany, []Kind{Unprocessable}, "The project has as many host names as it may have.", "Remove one."},
	{CodeDomainWildcard, []Kind{Unprocessable}, "No certificate can be ordered for a wildcard of another domain.", "Set SVC_TLS_CERT and SVC_TLS_KEY to its certificate, or end TLS in a proxy in front."},
	{CodeDomainRedirected, []Kind{NotFound}, "The host name leads to another one.", "Follow the header Location."},
}
