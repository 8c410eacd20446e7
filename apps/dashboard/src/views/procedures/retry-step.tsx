/** A run that has ended is done again from one of its steps. */
import { useState } from "preact/hooks";
import { path } from "../../api/client.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { hrefOf } from "../../route/route.ts";
import { useServices } from "../../services.ts";
import { useAction } from "../../state/use-action.ts";

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
      <Button label={`Retry from step ${step}: ${title}`} onPress={() => setAsking(true)}>
        Retry from here
      </Button>
      {isAsking && (
        <Dialog
          title={`Retry from step ${step}?`}
          action="Retry"
          kind="main"
          busy={retry.isRunning}
          error={retry.error}
          onConfirm={() => void retry.run()}
          onClose={() => {
            retry.clear();
            setAsking(false);
          }}
        >
          <p>
            A new run takes over what the steps before gave, and does the rest by the files as they are now. A step that
            may have acted already waits for a yes before it acts again.
          </p>
        </Dialog>
      )}
    </>
  );
}
