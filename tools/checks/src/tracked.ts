import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Files that are committed or would be. */
export function trackedFiles(root: string): string[] {
  const output = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
  });
  return output.split('\0').filter((path) => path !== '');
}

/** Folders of somebody's machine. A name after it is needed: `/home` alone may be text. */
const machinePath = /(?:^|[\s"'`(=[])\/(?:home|Users|root|work|mnt\/[a-z])\/[\w.-]+/;
const registryHost = /\b(?:registry\.npmjs\.org|(?:deb|security)\.debian\.org)\b/;

/** No path of a machine, and no address of a package registry, in any file of the repository. */
export function checkMachinePaths(root: string, own: readonly string[] = [root, homedir()]): string[] {
  const known = own.filter((path) => path.length > 5);
  return trackedFiles(root).flatMap((path) => {
    const bytes = read(join(root, path));
    if (!bytes) return [];
    if (bytes.includes(0)) {
      const found = known.find((one) => bytes.includes(one));
      return found ? [`${path}: contains the path ${found}`] : [];
    }
    return bytes
      .toString('utf8')
      .split('\n')
      .flatMap((line, index) => {
        const found =
          known.find((one) => line.includes(one)) ??
          machinePath.exec(line)?.[0] ??
          registryHost.exec(line)?.[0];
        return found
          ? [`${path}:${index + 1}: '${found.trim()}' is only true on one machine or network`]
          : [];
      });
  });
}

/** A file that git lists and that is deleted in the work tree has nothing to say. */
function read(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
