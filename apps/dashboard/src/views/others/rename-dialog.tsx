import { useId, useState } from "preact/hooks";
import { path } from "../../api/client.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { useServices } from "../../services.ts";
import { useAction } from "../../state/use-action.ts";

interface Props {
  readonly id: string;
  readonly name: string;
  readonly onClose: () => void;
}

export function RenameDialog({ id, name, onClose }: Props) {
  const { api, live } = useServices();
  const [text, setText] = useState(name);
  const field = useId();
  const rename = useAction(() => api.call(path`/api/devices/${id}/name`, { method: "PUT", body: { name: text } }));
  const confirm = async (): Promise<void> => {
    if (!(await rename.run())) return;
    live.markStale(["devices", "sessions"]);
    onClose();
  };
  return (
    <Dialog
      title="Rename this device"
      action="Rename"
      kind="main"
      busy={rename.isRunning}
      error={rename.error}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <label for={field}>Name</label>
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
