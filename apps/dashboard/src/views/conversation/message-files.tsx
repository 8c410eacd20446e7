/** Files of a message: pictures are shown, other files are chips that download them. */
import type { FileInfo } from "@svc/api";
import { useEffect, useRef, useState } from "preact/hooks";
import { path, saveFile } from "../../client/api.ts";
import { Icon } from "../../components/icon.tsx";
import { Problem } from "../../components/shown.tsx";
import { Name } from "../../components/text.tsx";
import { useServices } from "../../services.ts";
import { useAction } from "../../state/use-action.ts";
import { fileSize } from "../../texts/format.ts";
import { t } from "../../texts/texts.ts";

interface Props {
  readonly conversation: string;
  readonly files: readonly FileInfo[];
}

export function MessageFiles({ conversation, files }: Props) {
  if (files.length === 0) return null;
  return (
    <ul class="files" aria-label={t("sessions.files")}>
      {files.map((file) => (
        <li key={file.id}>
          <MessageFile file={file} address={path`/api/sessions/${conversation}/files/${file.id}`} />
        </li>
      ))}
    </ul>
  );
}

interface FileProps {
  readonly file: FileInfo;
  readonly address: string;
}

/** Types that the daemon serves as pictures. */
const PICTURES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"]);

function MessageFile({ file, address }: FileProps) {
  const { api } = useServices();
  const save = useAction(async () => saveFile({ ...(await api.file(address)), name: file.name }));
  return (
    <>
      <button
        type="button"
        class={PICTURES.has(file.type) ? "picture" : "chip"}
        aria-busy={save.isRunning}
        aria-label={t("sessions.save", { name: file.name, size: fileSize(file.size) })}
        title={`${file.name}, ${fileSize(file.size)}`}
        onClick={() => void save.run()}
      >
        {PICTURES.has(file.type) ? (
          <Picture file={file} address={address} />
        ) : (
          <>
            <Icon name="file" />
            <span class="chip-name">
              <Name>{file.name}</Name>
            </span>{" "}
            <span class="hint">{fileSize(file.size)}</span>
          </>
        )}
      </button>
      <Problem error={save.error} what={t("sessions.it-could-not-be-saved")} />
    </>
  );
}

/** Fetched when it becomes visible, with the csrf value that an address in `src` can't send. */
function Picture({ file, address }: FileProps) {
  const { api } = useServices();
  const frame = useRef<HTMLSpanElement>(null);
  const [source, setSource] = useState<string>();
  const [isGone, setGone] = useState(false);
  useEffect(() => {
    let shown: string | undefined;
    let isOver = false;
    const read = async (): Promise<void> => {
      const { bytes } = await api.file(address);
      // The type is set by the page, so that other content is never executed.
      if (!isOver) setSource((shown = URL.createObjectURL(new Blob([bytes], { type: file.type }))));
    };
    const watch = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      watch.disconnect();
      read().catch(() => setGone(true));
    });
    if (frame.current) watch.observe(frame.current);
    return () => {
      isOver = true;
      watch.disconnect();
      if (shown !== undefined) URL.revokeObjectURL(shown);
    };
  }, [address]);
  return (
    <span ref={frame} class="picture-frame">
      {source !== undefined && !isGone && <img src={source} alt={file.name} onError={() => setGone(true)} />}
      {isGone && <span class="hint">{t("sessions.cant-be-shown", { name: file.name })}</span>}
    </span>
  );
}
