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

export function AlwaysRules() {
  const read = useList<{ readonly rules: readonly PolicyRule[] }>("/api/policy-rules", ["rules"]);
  return (
    <Shown read={read}>
      {({ rules }) =>
        rules.length === 0 ? (
          <Empty title="No standing permissions">
            In a terminal: <Command>svc approvals rules</Command>
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
    announcer.say("Revoked: such calls ask again");
    live.markStale(["rules", "audit"]);
  });
  return (
    <article class="card approval" aria-label={`Always allowed: ${pattern}`}>
      <p class="hint">
        The agent <code>{visible(agent)}</code> may use <code>{visible(tool)}</code> without asking, exactly:
      </p>
      <pre class="command" tabIndex={0} role="group" aria-label={`Pattern: ${pattern}`}>
        <code dir="ltr">{visible(pattern)}</code>
      </pre>
      <Problem error={revoke.error} />
      <div class="buttons">
        <Button label={`Revoke: ${pattern}`} busy={revoke.isRunning} onPress={() => void revoke.run()}>
          Revoke
        </Button>
      </div>
    </article>
  );
}
