// Package ai is the binding kind "ai": Workers AI as a client of an HTTP API of the form
// that OpenAI defined. It generates text, whole or as a stream of events in the form of
// Cloudflare, and makes embeddings; other tasks are refused by name when they are called.
//
// The worker host calls the API. The key and the address of the API do not reach workerd.
package ai
