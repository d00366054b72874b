// Package email is the binding kind "send_email": mail that a worker sends. Each message is
// kept in an outbox, a database that belongs to the version alone, and handed to the SMTP
// server of the operator, if there is one, before send returns.
package email
