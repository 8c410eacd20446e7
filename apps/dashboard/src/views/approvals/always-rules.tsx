/** Calls that run without asking, each with a button that ends it. */
import { path } from "../../api/client.ts";
import type { PolicyRule } from "../../api/governed-shapes.ts";
import { Button } from "../../parts/button.tsx";
import { Command, Empty } from "../../parts/empty.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Shown } from "../../parts/shown.tsx";
import { useServices } from "../../services.ts";
import { useAction } from "../../state/use-action.ts";
import { useList } from "../../state/use-reader.ts";
import { visible } from "../../text/visible.ts";
import { rich, t } from "../../texts/texts.ts";

export function AlwaysRules() {
  const read = useList<{ readonly rules: readonly PolicyRule[] }>("/api/policy-rules", ["rules"]);
  return (
    <Shown read={read}>
      {({ rules }) =>
        rules.length === 0 ? (
          <Empty title={t("approvals.no-standing-permissions")}>
            {rich("approvals.in-a-terminal", { command: <Command>svc approvals rules</Command> })}
          </Empty>
        ) : (
          <ul class="cards">
            {rules.map((rule) => (
              <li key={rule.id}>
                <Rule rule={rule} />
              </li>
            ))}
          </ul>
        )
      }
    </Shown>
  );
}

function Rule({ rule: { id, agent, tool, pattern } }: { readonly rule: PolicyRule }) {
  const { api, live, announcer } = useServices();
  const revoke = useAction(async () => {
    await api.call(path`/api/policy-rules/${id}`, { method: "DELETE" });
    announcer.say(t("approvals.revoked-such-calls-ask-again"));
    live.markStale(["rules", "audit"]);
  });
  return (
    <article class="card approval" aria-label={t("approvals.always-allowed", { pattern })}>
      <p class="hint">
        {rich("approvals.the-agent-may-use-without", {
          agent: <code>{visible(agent)}</code>,
          tool: <code>{visible(tool)}</code>,
        })}
      </p>
      <pre class="command" tabIndex={0} role="group" aria-label={t("approvals.pattern", { pattern })}>
        <code dir="ltr">{visible(pattern)}</code>
      </pre>
      <Problem error={revoke.error} />
      <div class="buttons">
        <Button label={t("approvals.revoke-2", { pattern })} busy={revoke.isRunning} onPress={() => void revoke.run()}>
          {t("approvals.revoke")}
        </Button>
      </div>
    </article>
  );
}
