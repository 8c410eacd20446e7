/** Actions on a whole procedure: edit, copy, rename, switch on and off, delete. */
import { useId, useState } from "preact/hooks";
import { path } from "../../api/client.ts";
import type { Procedure } from "../../api/governed-shapes.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Problem } from "../../parts/problem.tsx";
import { hrefOf } from "../../route/route.ts";
import { useServices } from "../../services.ts";
import { useAction } from "../../state/use-action.ts";
import { t } from "../../texts/texts.ts";

export function ProcedureActions({
  procedure: { name, enabled },
}: {
  readonly procedure: Pick<Procedure, "name" | "enabled">;
}) {
  const { api, live } = useServices();
  const [asking, setAsking] = useState<"copy" | "rename" | "delete">();
  const turn = useAction(() =>
    api
      .call(path`/api/sops/${name}`, { method: "PATCH", body: { enabled: !enabled } })
      .finally(() => live.markStale(["procedures"])),
  );
  return (
    <>
      <div class="buttons sop-actions">
        <a class="button" href={hrefOf("edit-procedure", name)}>
          {t("procedures.edit-2")}
        </a>
        <Button onPress={() => setAsking("copy")}>{t("common.duplicate")}</Button>
        <Button onPress={() => setAsking("rename")}>{t("common.rename")}</Button>
        <Button kind={enabled ? "plain" : "main"} busy={turn.isRunning} onPress={() => void turn.run()}>
          {enabled ? t("procedures.disable") : t("procedures.enable")}
        </Button>
        <Button onPress={() => setAsking("delete")}>{t("procedures.delete")}</Button>
        <a class="button" href={hrefOf("procedure-changes", name)}>
          {t("common.saved-changes")}
        </a>
      </div>
      <Problem error={turn.error} />
      {asking === "copy" && <CopyDialog name={name} onClose={() => setAsking(undefined)} />}
      {asking === "rename" && <RenameDialog name={name} onClose={() => setAsking(undefined)} />}
      {asking === "delete" && <DeleteDialog name={name} onClose={() => setAsking(undefined)} />}
    </>
  );
}

const CopyDialog = ({ name, onClose }: DialogProps) => (
  <NameDialog
    title={t("procedures.duplicate-this-procedure")}
    action={t("common.duplicate")}
    hint={t("procedures.the-copy-is-disabled-until")}
    label={t("procedures.name-of-the-copy")}
    first={`${name.slice(0, 59)}-copy`}
    path={path`/api/sops/${name}/copies`}
    view="edit-procedure"
    onClose={onClose}
  />
);

const RenameDialog = ({ name, onClose }: DialogProps) => (
  <NameDialog
    title={t("procedures.rename-this-procedure")}
    action={t("common.rename")}
    hint={t("procedures.its-runs-keep-the-name")}
    label={t("procedures.new-name")}
    first={name}
    path={path`/api/sops/${name}/rename`}
    view="procedures"
    onClose={onClose}
  />
);

interface DialogProps {
  readonly name: string;
  readonly onClose: () => void;
}

interface NameDialogProps {
  readonly title: string;
  readonly action: string;
  readonly hint: string;
  readonly label: string;
  readonly first: string;
  /** Takes `{"name"}`. */
  readonly path: string;
  /** Shown with the new name then. */
  readonly view: string;
  readonly onClose: () => void;
}

function NameDialog({ title, action, hint, label, first, path: to, view, onClose }: NameDialogProps) {
  const { api, live } = useServices();
  const [text, setText] = useState(first);
  const field = useId();
  const name = text.trim();
  const act = useAction(() => api.call(to, { method: "POST", body: { name } }));
  const confirm = async (): Promise<void> => {
    if (!(await act.run())) return;
    live.markStale(["procedures"]);
    location.hash = hrefOf(view, name);
  };
  return (
    <Dialog
      title={title}
      action={action}
      kind="main"
      busy={act.isRunning}
      error={act.error}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <p class="hint">{hint}</p>
      <label for={field}>{label}</label>
      <input
        id={field}
        value={text}
        maxLength={64}
        spellcheck={false}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => event.key === "Enter" && !event.isComposing && void confirm()}
      />
    </Dialog>
  );
}

function DeleteDialog({ name, onClose }: DialogProps) {
  const { api, live } = useServices();
  const act = useAction(() => api.call(path`/api/sops/${name}`, { method: "DELETE" }));
  const confirm = async (): Promise<void> => {
    if (!(await act.run())) return;
    location.hash = hrefOf("procedure-changes");
    live.markStale(["procedures"]);
  };
  return (
    <Dialog
      title={t("procedures.delete-2", { name })}
      action={t("procedures.delete")}
      busy={act.isRunning}
      error={act.error}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <p class="hint">{t("procedures.runs-that-have-begun-go")}</p>
    </Dialog>
  );
}
