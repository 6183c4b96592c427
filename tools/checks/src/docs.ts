import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { trackedFiles } from './tracked.ts';
import { workspacePackages } from './workspace.ts';

/** Each code has its heading, each package its example, and no link leads nowhere. */
export function checkDocs(root: string): string[] {
  return [...errorHeadings(root), ...examples(root), ...links(root)];
}

function errorHeadings(root: string): string[] {
  const source = readFileSync(join(root, 'packages/core/src/errors.ts'), 'utf8');
  const table = /errorKinds = \{([^}]*)\}/.exec(source)?.[1] ?? '';
  const codes = [...table.matchAll(/\b(ERR_\w+):/g)].map((match) => match[1]);
  const page = readFileSync(join(root, 'docs/errors.md'), 'utf8');
  const headings = [...page.matchAll(/^#+ `?(ERR_\w+)`?$/gm)].map((match) => match[1]);
  return [
    ...(codes.length === 0 ? ['packages/core/src/errors.ts: errorKinds cannot be read'] : []),
    ...codes
      .filter((code) => !headings.includes(code))
      .map((code) => `docs/errors.md: no heading for ${code}`),
    ...headings
      .filter((code) => !codes.includes(code))
      .map((code) => `docs/errors.md: ${code} is no code of core`),
  ];
}

function examples(root: string): string[] {
  return workspacePackages(root).flatMap(({ directory, manifest }) => {
    const readme = join(root, directory, 'README.md');
    if (manifest.private || !existsSync(readme)) return [];
    const text = readFileSync(readme, 'utf8');
    return /^```(?:ts|js|sh)$/m.test(text)
      ? []
      : [`${directory}/README.md: no example to run (a block marked ts or js, or sh for a command)`];
  });
}

/** Relative links, and the headings that they name. */
function links(root: string): string[] {
  return trackedFiles(root)
    .filter((path) => path.endsWith('.md') && existsSync(join(root, path)))
    .flatMap((path) => {
      const text = withoutCode(readFileSync(join(root, path), 'utf8'));
      return [...text.matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)].flatMap(([, link = '']) => {
        const [file, heading] = link.split('#');
        const target = file ? join(dirname(path), file) : path;
        if (!existsSync(join(root, target))) return [`${path}: the link ${link} leads nowhere`];
        if (heading === undefined || !target.endsWith('.md')) return [];
        const known = headingIds(readFileSync(join(root, target), 'utf8'));
        return known.includes(heading) ? [] : [`${path}: ${target} has no heading #${heading}`];
      });
    });
}

const withoutCode = (text: string): string =>
  text.replaceAll(/^```[\s\S]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, '');

const headingIds = (text: string): string[] =>
  [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );
