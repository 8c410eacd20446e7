/** Gives something another name. */
import { useId, useState } from "preact/hooks";
import type { Topic } from "../live/topics.ts";
import { useServices } from "../services.ts";
import { useAction } from "../state/use-action.ts";
import { Dialog } from "./dialog.tsx";
import { t } from "../texts/texts.ts";

interface Props {
  readonly title: string;
  /** Takes `{"name"}` by PUT. */
  readonly path: string;
  readonly name: string;
  /** What shows the name. */
  readonly stale: readonly Topic[];
  readonly onClose: () => void;
}

export function RenameDialog({ title, path, name, stale, onClose }: Props) {
  const { api, live } = useServices();
  const [text, setText] = useState(name);
  const field = useId();
  const rename = useAction(() => api.call(path, { method: "PUT", body: { name: text } }));
  const confirm = async (): Promise<void> => {
    if (!(await rename.run())) return;
    live.markStale(stale);
    onClose();
  };
  return (
    <Dialog
      title={title}
      action={t("common.rename")}
      kind="main"
      busy={rename.isRunning}
      error={rename.error}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <label for={field}>{t("common.name")}</label>
      <input
        id={field}
        value={text}
        maxLength={64}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => event.key === "Enter" && !event.isComposing && void confirm()}
      />
    </Dialog>
  );
}
