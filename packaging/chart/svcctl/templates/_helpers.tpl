{{- /* Templates use only functions that Helm and internal/client/manifests both have. */ -}}

{{- define "svcctl.selector" -}}
app.kubernetes.io/name: svcctl
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "svcctl.labels" -}}
{{ include "svcctl.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "svcctl.image" -}}
image: {{ .Values.image.ref | default (printf "svcctl:%s" .Chart.AppVersion) | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- end }}

{{- define "svcctl.pullSecrets" -}}
{{- with .Values.image.pullSecrets -}}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end }}

{{- /* The Restricted Pod Security Standard. */ -}}
{{- define "svcctl.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "svcctl.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- define "svcctl.secret" -}}
{{ required "secrets.existing is not set: the name of the Secret with tokens and keys; svcctl admin manifests kubernetes --secrets-only prints one" .Values.secrets.existing }}
{{- end }}

{{- define "svcctl.s3.secret" -}}
{{- if .Values.trialStore.enabled -}}
{{ .Values.s3.secret | default (printf "%s-s3" (include "svcctl.secret" .)) }}
{{- else -}}
{{ required "s3.secret is not set: the name of the Secret with S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY" .Values.s3.secret }}
{{- end -}}
{{- end }}

{{- define "svcctl.s3.endpoint" -}}
{{- if .Values.trialStore.enabled -}}
http://svcctl-store:9000
{{- else -}}
{{ required "s3.endpoint is not set: the URL of the object store" .Values.s3.endpoint }}
{{- end -}}
{{- end }}

{{- define "svcctl.s3.keys" -}}
- name: S3_ACCESS_KEY_ID
  valueFrom: {secretKeyRef: {name: {{ include "svcctl.s3.secret" . }}, key: S3_ACCESS_KEY_ID}}
- name: S3_SECRET_ACCESS_KEY
  valueFrom: {secretKeyRef: {name: {{ include "svcctl.s3.secret" . }}, key: S3_SECRET_ACCESS_KEY}}
{{- end }}

{{- define "svcctl.host" -}}
{{ required "host is not set: the base domain of workers, such as apps.example.com" .Values.host }}
{{- end }}

{{- define "svcctl.publicURL" -}}
{{ .Values.publicURL | default (printf "https://%s" (include "svcctl.host" .)) }}
{{- end }}

{{- /* The names of the API: its Service, and the one outside of the cluster. */ -}}
{{- define "svcctl.apiHosts" -}}
svcctl.{{ .Release.Namespace }},svcctl.{{ .Release.Namespace }}.svc,svcctl.{{ .Release.Namespace }}.svc.{{ .Values.clusterDomain }}
{{- with .Values.apiHost }},{{ . }}{{ end }}
{{- end }}

{{- define "svcctl.trustedProxies" -}}
{{- if .Values.ingress.enabled -}}
{{ required "gateway.trustedProxies is not set: with ingress it names the addresses of the ingress controller, or is off" .Values.gateway.trustedProxies }}
{{- else -}}
{{ .Values.gateway.trustedProxies }}
{{- end -}}
{{- end }}
