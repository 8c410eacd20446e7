/** What is done with a procedure as a whole: edited, copied, switched on and off. */
import { useId, useState } from "preact/hooks";
import { path } from "../../api/client.ts";
import type { Procedure } from "../../api/governed-shapes.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Problem } from "../../parts/problem.tsx";
import { hrefOf } from "../../route/route.ts";
import { useServices } from "../../services.ts";
import { useAction } from "../../state/use-action.ts";

export function ProcedureActions({
  procedure: { name, enabled },
}: {
  readonly procedure: Pick<Procedure, "name" | "enabled">;
}) {
  const { api, live } = useServices();
  const [isCopying, setCopying] = useState(false);
  const turn = useAction(() =>
    api
      .call(path`/api/sops/${name}`, { method: "PATCH", body: { enabled: !enabled } })
      .finally(() => live.markStale(["procedures"])),
  );
  return (
    <>
      <div class="buttons sop-actions">
        <a class="button" href={hrefOf("edit-procedure", name)}>
          Edit
        </a>
        <Button onPress={() => setCopying(true)}>Duplicate</Button>
        <Button kind={enabled ? "plain" : "main"} busy={turn.isRunning} onPress={() => void turn.run()}>
          {enabled ? "Disable" : "Enable"}
        </Button>
      </div>
      <Problem error={turn.error} />
      {isCopying && <CopyDialog name={name} onClose={() => setCopying(false)} />}
    </>
  );
}

function CopyDialog({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const { api, live } = useServices();
  const [copy, setCopy] = useState(`${name.slice(0, 59)}-copy`);
  const field = useId();
  const act = useAction(() =>
    api.call(path`/api/sops/${name}/copies`, { method: "POST", body: { name: copy.trim() } }),
  );
  const confirm = async (): Promise<void> => {
    if (!(await act.run())) return;
    live.markStale(["procedures"]);
    location.hash = hrefOf("edit-procedure", copy.trim());
  };
  return (
    <Dialog
      title="Duplicate this procedure?"
      action="Duplicate"
      kind="main"
      busy={act.isRunning}
      error={act.error}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <p class="hint">The copy is disabled until you enable it.</p>
      <label for={field}>Name of the copy</label>
      <input
        id={field}
        value={copy}
        maxLength={64}
        spellcheck={false}
        onInput={({ currentTarget }) => setCopy(currentTarget.value)}
        onKeyDown={(event) => event.key === "Enter" && !event.isComposing && void confirm()}
      />
    </Dialog>
  );
}
