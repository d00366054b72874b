package svc

import (
	"strings"
	"time"
)

// Backends are services outside of the server that bindings of workers lead to, and other
// settings of bindings. They hold secrets, which only the worker host gets, in clear for the control line.
type Backends struct {
	AI            AIBackend         `json:"ai"`
	Mail          MailRelay         `json:"mail"`
	Databases     []ForeignDatabase `json:"databases"`
	AnalyticsKeep time.Duration     `json:"analytics_keep"` // age at which data points are deleted; 0 for never
}

// AIBackend is an HTTP API of the form that OpenAI defined. Its zero value is none.
type AIBackend struct {
	URL    string    `json:"url"` // without a slash at its end: paths such as /chat/completions follow it
	Key    string    `json:"key"` // "" sends none
	Models []AIModel `json:"models"`
}

// AIModel says which model of the API answers for a name that workers use.
type AIModel struct {
	Name  string `json:"name"` // "*" at its end stands for any text
	Model string `json:"model"`
}

// Model returns the model of the API for the name that a worker uses: that of the equal
// name, else that of the longest pattern. Without Models, names are unchanged.
func (b AIBackend) Model(name string) (model string, ok bool) {
	if len(b.Models) == 0 {
		return name, true
	}
	longest := -1
	for _, m := range b.Models {
		prefix, pattern := strings.CutSuffix(m.Name, "*")
		switch {
		case !pattern && m.Name == name:
			return m.Model, true
		case pattern && strings.HasPrefix(name, prefix) && len(prefix) > longest:
			model, longest = m.Model, len(prefix)
		}
	}
	return model, longest >= 0
}

// MailRelay is an SMTP server that takes mail of workers. Its zero value is none.
type MailRelay struct {
	Address  string `json:"address"` // host:port
	TLS      bool   `json:"tls"`     // from the first byte; otherwise with STARTTLS, if the server has it
	User     string `json:"user"`    // "" sends no credentials
	Password string `json:"password"`
	RootCert string `json:"root_cert"` // file of the authorities for TLS; "" for the system's
}

// ForeignDatabase is a database that workers may connect to by Hyperdrive.
type ForeignDatabase struct {
	ID       string `json:"id"`      // of the configuration, as in project files
	Scheme   string `json:"scheme"`  // "postgresql" or "mysql"
	Address  string `json:"address"` // host:port
	User     string `json:"user"`
	Password string `json:"password"`
	Database string `json:"database"`
	TLS      string `json:"tls"`       // TLSRequire, TLSVerifyCA, TLSVerify, or "" for a connection without TLS
	RootCert string `json:"root_cert"` // file of the authorities for TLSVerifyCA and TLSVerify; "" for the system's
}

// How a ForeignDatabase is reached by TLS.
const (
	TLSRequire  = "require"     // any certificate
	TLSVerifyCA = "verify-ca"   // one from an authority, for any host
	TLSVerify   = "verify-full" // one from an authority, for the host
)
