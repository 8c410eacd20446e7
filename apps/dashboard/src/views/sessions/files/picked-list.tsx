import { Icon } from "../../../parts/icon.tsx";
import { Name } from "../../../parts/name.tsx";
import { ErrorText } from "../../../parts/problem.tsx";
import type { PickedFile } from "./picked-files.ts";
import { sizeText } from "./sizes.ts";
import { t } from "../../../texts/texts.ts";

interface Props {
  readonly files: readonly PickedFile[];
  readonly onRemove: (key: number) => void;
  readonly onRetry: (key: number) => void;
}

/** What goes with the next message. */
export function PickedList({ files, onRemove, onRetry }: Props) {
  if (files.length === 0) return null;
  return (
    <ul class="picked" aria-label={t("sessions.attached-files")}>
      {files.map((file) => (
        <li key={file.key} class={`chip ${file.error ? "failed" : ""}`}>
          <Icon name="file" />
          <span class="chip-name">
            <Name>{file.name}</Name>
          </span>
          <State file={file} />
          {file.canRetry && (
            <button
              type="button"
              class="chip-retry"
              aria-label={t("sessions.upload-again", { name: file.name })}
              onClick={() => onRetry(file.key)}
            >
              {t("common.try-again")}
            </button>
          )}
          <button
            type="button"
            class="chip-remove"
            aria-label={t("sessions.remove", { name: file.name })}
            title={t("common.remove")}
            onClick={() => onRemove(file.key)}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}

function State({ file: { info, error, progress, size } }: { readonly file: PickedFile }) {
  if (error) {
    return (
      <span role="alert">
        <ErrorText error={error} /> <code>{error.code}</code>
      </span>
    );
  }
  if (info) return <span class="hint">{sizeText(size)}</span>;
  return <progress aria-label={t("sessions.upload")} value={progress} max={1} />;
}
