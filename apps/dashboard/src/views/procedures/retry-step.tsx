/** A run that has ended is done again from one of its steps. */
import { useState } from "preact/hooks";
import { path } from "../../api/client.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { hrefOf } from "../../route/route.ts";
import { useServices } from "../../services.ts";
import { useAction } from "../../state/use-action.ts";
import { t } from "../../texts/texts.ts";

interface Props {
  readonly runId: string;
  readonly step: number;
  readonly title: string;
}

export function RetryStep({ runId, step, title }: Props) {
  const { api, live } = useServices();
  const [isAsking, setAsking] = useState(false);
  const retry = useAction(async () => {
    const { id } = await api.call<{ id: string }>(path`/api/sop-runs/${runId}/retry`, {
      method: "POST",
      body: { step },
    });
    live.markStale(["procedures"]);
    location.hash = hrefOf("runs", id);
  });
  return (
    <>
      <Button label={t("procedures.retry-from-step", { n: step, title })} onPress={() => setAsking(true)}>
        {t("procedures.retry-from-here")}
      </Button>
      {isAsking && (
        <Dialog
          title={t("procedures.retry-from-step-2", { n: step })}
          action={t("procedures.retry")}
          kind="main"
          busy={retry.isRunning}
          error={retry.error}
          onConfirm={() => void retry.run()}
          onClose={() => {
            retry.clear();
            setAsking(false);
          }}
        >
          <p>{t("procedures.a-new-run-takes-over")}</p>
        </Dialog>
      )}
    </>
  );
}
