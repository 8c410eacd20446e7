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
import { t, wordOf } from "../../texts/texts.ts";

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
    <Section title={t("procedures.test-it")}>
      <p class="hint">{t("procedures.the-run-is-marked-as")}</p>
      <div class="setting-form">
        <div class="setting">
          <label for={chosen}>{t("procedures.as-if-started-by")}</label>
          <select id={chosen} value={trigger} onChange={({ currentTarget }) => setTrigger(currentTarget.value)}>
            <option value="">{t("procedures.a-person-whatever-the-conditions")}</option>
            {triggers.map((one, index) => (
              <option key={index} value={String(index)}>
                {wordsOf(one)}
              </option>
            ))}
          </select>
        </div>
        <div class="setting">
          <label for={text}>{t("procedures.event-payload-json-optional")}</label>
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
          {t("procedures.start-a-test-run")}
        </Button>
      </div>
    </Section>
  );
}

function wordsOf({ type, path: route, expression, event, topic, board, signal, condition }: Trigger): string {
  const what = route ?? expression ?? event ?? topic ?? (board === undefined ? "" : `${board} ${signal}`);
  const words = { type: wordOf(type), what };
  return condition === null
    ? t("procedures.trigger-words", words)
    : t("procedures.trigger-words-if", { ...words, condition });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError("BAD_JSON", t("procedures.the-payload-is-not-json"));
  }
}
