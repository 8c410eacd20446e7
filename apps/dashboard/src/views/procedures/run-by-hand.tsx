import { useId, useState } from "preact/hooks";
import { ApiError } from "../../api/api-error.ts";
import { path } from "../../api/client.ts";
import { Button } from "../../parts/button.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Section } from "../../parts/section.tsx";
import { hrefOf } from "../../route/route.ts";
import { useServices } from "../../services.ts";
import { useAction } from "../../state/use-action.ts";
import { t } from "../../texts/texts.ts";

export function RunByHand({ name }: { readonly name: string }) {
  const { api } = useServices();
  const [payload, setPayload] = useState("");
  const id = useId();
  const start = useAction(async () => {
    const body = payload.trim() === "" ? {} : { body: parsed(payload) };
    const { run_id: run } = await api.call<{ run_id: string }>(path`/api/sops/${name}/runs`, {
      method: "POST",
      ...body,
    });
    location.hash = hrefOf("runs", run);
  });
  return (
    <Section title={t("procedures.run-it-now")}>
      <label for={id}>{t("procedures.payload-json-optional")}</label>
      <textarea
        id={id}
        rows={3}
        spellcheck={false}
        class="mono"
        value={payload}
        onInput={({ currentTarget }) => setPayload(currentTarget.value)}
      />
      <Problem error={start.error} />
      <div class="buttons">
        <Button kind="main" busy={start.isRunning} onPress={() => void start.run()}>
          {t("procedures.run")}
        </Button>
      </div>
    </Section>
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError("BAD_JSON", t("procedures.the-payload-is-not-json"));
  }
}
