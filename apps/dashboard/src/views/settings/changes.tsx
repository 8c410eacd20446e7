/** Changes that were saved, each with its diff and the way back. */
import { useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Heading } from "../../parts/heading.tsx";
import { Name } from "../../parts/name.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Ago } from "../../parts/time.tsx";
import { hrefOf } from "../../route/route.ts";
import { useServices } from "../../services.ts";
import { useAction } from "../../state/use-action.ts";
import { useList, useReader } from "../../state/use-reader.ts";
import { Diff, Problems } from "./save-bar.tsx";
import type { DiffLine, Preview, Version } from "./shapes.ts";
import { t } from "../../texts/texts.ts";

export function Changes() {
  const versions = useList<{ readonly versions: readonly Version[] }>("/api/settings/versions", []);
  return (
    <>
      <Heading
        title={t("settings.saved-changes")}
        start={
          <a class="heading-back" href={hrefOf("settings")}>
            {t("common.all-settings")}
          </a>
        }
      />
      <Shown read={versions}>
        {({ versions: all }) =>
          all.length === 0 ? (
            <Empty title={t("settings.no-saved-changes")}>{t("settings.changes-that-you-save-in")}</Empty>
          ) : (
            all.map((version) => (
              <Change key={version.version} version={version} onUndone={() => void versions.refresh()} />
            ))
          )
        }
      </Shown>
    </>
  );
}

function Change({ version: { version, at, by, keys }, onUndone }: { version: Version; onUndone: () => void }) {
  const [isOpen, setOpen] = useState(false);
  const [isAsking, setAsking] = useState(false);
  return (
    <details class="setting-item" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <Name>{keys.join(", ")}</Name>{" "}
        <span class="hint">
          <Ago at={at} />, <Name>{by}</Name>
        </span>
      </summary>
      {isOpen && <What version={version} />}
      <Button label={t("settings.undo-change", { version })} onPress={() => setAsking(true)}>
        {t("common.undo")}
      </Button>
      {isAsking && (
        <UndoDialog
          version={version}
          onClose={(isDone) => {
            setAsking(false);
            if (isDone) onUndone();
          }}
        />
      )}
    </details>
  );
}

function What({ version }: { readonly version: number }) {
  const change = useList<{ readonly diff: readonly DiffLine[] }>(`/api/settings/versions/${version}`, []);
  return <Shown read={change}>{({ diff }) => <Diff lines={diff} />}</Shown>;
}

function UndoDialog({ version, onClose }: { version: number; onClose: (isDone: boolean) => void }) {
  const { api } = useServices();
  const preview = useReader<Preview>(`undo ${version}`, [], (reading, signal) =>
    reading.call<Preview>("/api/settings/preview", { method: "POST", body: { undo: version }, signal }),
  );
  const undo = useAction(async () => {
    const body = { revision: preview.data?.revision };
    await api.call(`/api/settings/versions/${version}/undo`, { method: "POST", body });
  });
  const confirm = async (): Promise<void> => {
    if (await undo.run()) onClose(true);
  };
  return (
    <Dialog
      title={t("settings.put-the-file-back-as")}
      action={t("common.undo")}
      busy={undo.isRunning}
      error={undo.error}
      onConfirm={() => void confirm()}
      onClose={() => onClose(false)}
    >
      <Shown read={preview}>
        {({ diff, problems }) => (
          <>
            <Diff lines={diff} />
            <Problems problems={problems} />
          </>
        )}
      </Shown>
    </Dialog>
  );
}
