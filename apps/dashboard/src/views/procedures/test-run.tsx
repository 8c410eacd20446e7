/** Tries a procedure with an event that one makes up. */
import { useId, useState } from "preact/hooks";
import { ApiError } from "../../api/api-error.ts";
import { path } from "../../api/client.ts";
import type { Procedure, Trigger } from "../../api/governed-shapes.ts";
import { Button } from "../../parts/button.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Section } from "../../parts/section.tsx";
import { hrefOf } from "../../route/route.ts";
import { useServices } from "../../services.ts";
import { useAction } from "../../state/use-action.ts";

export function TestRun({ procedure: { name, triggers } }: { readonly procedure: Procedure }) {
  const { api } = useServices();
  const [trigger, setTrigger] = useState("");
  const [payload, setPayload] = useState("");
  const [chosen, text] = [useId(), useId()];
  const start = useAction(async () => {
    const body = {
      ...(trigger !== "" && { trigger: Number(trigger) }),
      ...(payload.trim() !== "" && { payload: parsed(payload) }),
    };
    const { run_id: run } = await api.call<{ run_id: string }>(path`/api/sops/${name}/test-runs`, {
      method: "POST",
      body,
    });
    location.hash = hrefOf("runs", run);
  });
  return (
    <Section title="Test it">
      <p class="hint">The run is marked as a test. Its approvals and its tools work as in any other run.</p>
      <div class="setting-form">
        <div class="setting">
          <label for={chosen}>As if started by</label>
          <select id={chosen} value={trigger} onChange={({ currentTarget }) => setTrigger(currentTarget.value)}>
            <option value="">a person, whatever the conditions</option>
            {triggers.map((one, index) => (
              <option key={index} value={String(index)}>
                {wordsOf(one)}
              </option>
            ))}
          </select>
        </div>
        <div class="setting">
          <label for={text}>Event payload (JSON, optional)</label>
          <textarea
            id={text}
            rows={3}
            spellcheck={false}
            class="mono"
            value={payload}
            onInput={({ currentTarget }) => setPayload(currentTarget.value)}
          />
        </div>
      </div>
      <Problem error={start.error} />
      <div class="buttons">
        <Button busy={start.isRunning} onPress={() => void start.run()}>
          Start a test run
        </Button>
      </div>
    </Section>
  );
}

function wordsOf({ type, path: route, expression, event, topic, board, signal, condition }: Trigger): string {
  const what = route ?? expression ?? event ?? topic ?? (board === undefined ? "" : `${board} ${signal}`);
  return `${type.replace("_", " ")} ${what}${condition === null ? "" : ` if ${condition}`}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError("BAD_JSON", "The payload is not JSON.");
  }
}
