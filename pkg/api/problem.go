package api

// ProblemContentType is the media type of every error.
const ProblemContentType = "application/problem+json"
