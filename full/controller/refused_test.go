package controller

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/informer-walkthrough/informer-walkthrough/full/api/v1alpha1"
)

// forbid makes the API server refuse Secrets of a name in namespaces with the label
// locked, with the message that a CEL expression gives, and waits until it does.
func (w *world) forbid(name, message string) *admissionv1.ValidatingAdmissionPolicy {
	w.Helper()
	p := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: w.name("locked")},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"locked": w.suffix}},
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
					Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"secrets"}},
				}}},
			},
			Validations: []admissionv1.Validation{{
				Expression: fmt.Sprintf("!object.metadata.name.startsWith(%q)", name), MessageExpression: message,
			}},
		},
	}
	require.NoError(w, w.Create(w.ctx, p))
	b := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: p.Name},
		Spec:       admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: p.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}},
	}
	require.NoError(w, w.Create(w.ctx, b))
	w.Cleanup(func() { // before the world's own
		_ = client.IgnoreNotFound(w.Delete(w.ctx, b))
		_ = client.IgnoreNotFound(w.Delete(w.ctx, p))
	})
	probe := w.namespace("probe", map[string]string{"locked": w.suffix})
	w.eventually("the policy works", func() error {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: probe, GenerateName: name + "-"}, StringData: map[string]string{"user": "probe"}}
		if err := w.Create(w.ctx, s, client.DryRunAll); err == nil || !strings.Contains(err.Error(), p.Name) {
			return fmt.Errorf("not refused by it yet: %v", err)
		}
		return nil
	})
	return p
}

// What admission refuses in one namespace keeps no other waiting, is reported, is
// tried again less and less often, and goes through when the policy goes.
func TestRefusedInOneNamespace(t *testing.T) {
	t.Parallel()
	onEachRuntime(t, func(w *world) {
		want := map[string]string{"user": "a"}
		source := w.source(want)
		locked := w.team()
		locked["locked"] = w.suffix
		bad := w.namespace("bad", locked)
		good := []string{w.namespace("a-good", w.team()), w.namespace("good", w.team())}
		m := w.mirror(source)
		w.ready(m, 3)
		kept := w.secret(bad, source.Name, want)
		policy := w.forbid(source.Name, `"no mirrors in " + request.namespace`)

		want["user"] = "b"
		touch(want)(w, m, source, client.ObjectKey{})
		for _, ns := range good {
			w.secret(ns, source.Name, want)
		}
		w.saysWhy(m, bad, "no mirrors in "+bad)
		now := w.secret(bad, source.Name, map[string]string{"user": "a"})
		assert.Equal(w, kept.UID, now.UID, "what admission refuses is not taken for an immutable copy, and deleted")

		w.triesLessOften(bad)
		status := w.op.count(func(s *sent) bool { return s.write() && strings.HasSuffix(s.path, "/status") })
		assert.LessOrEqual(w, status-w.op.refused(0), 4, "a try that fails in the same way changes no status")
		require.NoError(w, w.Delete(w.ctx, policy))
		w.secret(bad, source.Name, want)
		w.ready(m, 3)
	})
}

// A quota that is used up in one namespace, the same. There are no controllers here:
// its status is set by hand, and the API server enforces it.
func TestQuotaUsedUpInOneNamespace(t *testing.T) {
	t.Parallel()
	onEachRuntime(t, func(w *world) {
		want := map[string]string{"user": "a"}
		source := w.source(want)
		full := w.namespace("full", w.team())
		good := []string{w.namespace("a-good", w.team()), w.namespace("good", w.team())}
		quota := w.quota(full)
		m := w.mirror(source)
		for _, ns := range good {
			w.secret(ns, source.Name, want)
		}
		w.saysWhy(m, full, "exceeded quota: "+quota.Name)
		want["user"] = "b"
		touch(want)(w, m, source, client.ObjectKey{})
		for _, ns := range good {
			w.secret(ns, source.Name, want)
		}
		w.triesLessOften(full)
		require.NoError(w, w.Delete(w.ctx, quota))
		w.secret(full, source.Name, want)
		w.ready(m, 3)
	})
}

// quota makes the API server refuse every new Secret in a namespace, and waits until
// it does.
func (w *world) quota(namespace string) *corev1.ResourceQuota {
	w.Helper()
	none := corev1.ResourceList{corev1.ResourceSecrets: resource.MustParse("0")}
	q := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: w.name("no-secrets")},
		Spec:       corev1.ResourceQuotaSpec{Hard: none},
	}
	require.NoError(w, w.Create(w.ctx, q))
	q.Status = corev1.ResourceQuotaStatus{Hard: none, Used: none}
	require.NoError(w, w.Status().Update(w.ctx, q))
	w.eventually("the quota works", func() error {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "probe"}}
		if err := w.Create(w.ctx, s, client.DryRunAll); err == nil || !strings.Contains(err.Error(), "exceeded quota") {
			return fmt.Errorf("not refused by it yet: %v", err)
		}
		return nil
	})
	return q
}

// saysWhy waits until the status names the one namespace of three in which a copy
// was refused, with the API server's reason.
func (w *world) saysWhy(m *v1alpha1.Mirror, namespace, why string) {
	w.Helper()
	w.eventually("the status says which, and why", func() error {
		c := w.condition(m, v1alpha1.Ready, metav1.ConditionFalse, reasonFailed)
		if !strings.Contains(c.Message, "namespace "+namespace+": ") || !strings.Contains(c.Message, why) || m.Status.Synced != 2 {
			return fmt.Errorf("%d synced, %s", m.Status.Synced, c.Message)
		}
		return nil
	})
}

// triesLessOften waits until two refused writes into a namespace lie eight times the
// first delay apart: what is tried again at once, or at a steady pace, never gets there.
func (w *world) triesLessOften(namespace string) {
	w.Helper()
	w.eventually("tries that grow rare", func() error {
		var at []time.Time
		w.op.count(func(s *sent) bool {
			if s.write() && s.status >= 400 && strings.Contains(s.path, "/namespaces/"+namespace+"/") {
				at = append(at, s.at)
			}
			return false
		})
		if n := len(at); n < 5 || at[n-1].Sub(at[n-2]) < 8*minRetry {
			return fmt.Errorf("tries came at %v", at)
		}
		return nil
	})
}

// Nothing that the operator says, in whatever state, tells a Secret's data: not its
// log, nor what it writes but to copies, nor its metrics.
func TestNoDataOfSecretsIsTold(t *testing.T) {
	t.Parallel()
	const secret, key = "s3cr3t-value-that-nobody-tells", "password"
	want := map[string]string{key: secret}
	onEachRuntime(t, func(w *world) {
		source := w.source(want)
		source.Annotations = map[string]string{"kubectl.kubernetes.io/last-applied-configuration": secret}
		require.NoError(w, w.Update(w.ctx, source))
		w.forbid(source.Name, `"refused: " + string(object.data.password)`)
		locked := w.team()
		locked["locked"] = w.suffix
		bad, good := w.namespace("bad", locked), w.namespace("good", w.team())
		taken := w.namespace("taken", w.team())
		require.NoError(w, w.Create(w.ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: taken, Name: source.Name}, StringData: map[string]string{"own": secret + "2"}}))
		m := w.mirror(source)
		w.secret(good, source.Name, want)
		c := w.condition(m, v1alpha1.Ready, metav1.ConditionFalse, reasonFailed)
		assert.Contains(w, c.Message, "namespace "+bad+": refused with a message that quotes the Secret")
		// An immutable source made anew, a drifting copy, a source that goes, a Mirror that goes.
		require.NoError(w, w.Delete(w.ctx, source))
		w.condition(m, v1alpha1.SourceAvailable, metav1.ConditionFalse, reasonSourceMissing)
		source = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: source.Namespace, Name: source.Name}, Type: "example.com/x", Immutable: ptr.To(true), StringData: want}
		require.NoError(w, w.Create(w.ctx, source))
		w.eventually("the copy of another type", func() error {
			if s := w.secret(good, source.Name, want); s.Type != source.Type {
				return fmt.Errorf("%s", s.Type)
			}
			return nil
		})
		w.condition(m, v1alpha1.SourceAvailable, metav1.ConditionTrue, reasonFound)
		require.NoError(w, w.Delete(w.ctx, m))
		w.gone(m, "the finalizer is taken off")

		var told bytes.Buffer
		fmt.Fprintln(&told, w.op.log)
		w.op.mu.Lock()
		for _, s := range w.op.sent {
			if !strings.Contains(s.path, "/secrets/") {
				fmt.Fprintf(&told, "%s\n", s.body)
			}
		}
		w.op.mu.Unlock()
		var events eventsv1.EventList
		require.NoError(w, w.List(w.ctx, &events))
		require.NoError(w, json.NewEncoder(&told).Encode(events))
		families, err := metrics.Registry.Gather()
		require.NoError(w, err)
		for _, f := range families {
			_, err := expfmt.MetricFamilyToText(&told, f)
			require.NoError(w, err)
		}
		require.Contains(w, told.String(), "withheld", "the report of the refusal is among what is searched")
		require.Contains(w, told.String(), "controller_runtime_reconcile_total", "and the metrics")
		b64 := base64.StdEncoding.EncodeToString([]byte(secret))
		for _, form := range []string{secret, b64, b64[:len(b64)-4], base64.StdEncoding.EncodeToString([]byte(b64))[:40]} {
			if i := strings.Index(told.String(), form); i >= 0 {
				assert.Failf(w, "the Secret is told", "...%s...", told.String()[max(0, i-300):min(told.Len(), i+100)])
			}
		}
	})
}
