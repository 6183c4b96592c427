import ts from 'typescript';

export interface Import {
  specifier: string;
  /** Erased when compiled: nothing is loaded. */
  typeOnly: boolean;
  line: number;
}

const isTypeOnly = (node: ts.ImportDeclaration | ts.ExportDeclaration): boolean =>
  ts.isExportDeclaration(node)
    ? node.isTypeOnly
    : node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;

/** Everything that a module imports or re-exports, `import()` and `require()` of a literal included. */
export function importsOf(fileName: string, text: string): Import[] {
  const file = ts.createSourceFile(fileName, text, ts.ScriptTarget.ES2022, true);
  const found: Import[] = [];
  const add = (node: ts.Node, specifier: ts.Node | undefined, typeOnly: boolean) => {
    if (!specifier || !ts.isStringLiteralLike(specifier)) return;
    const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
    found.push({ specifier: specifier.text, typeOnly, line: line + 1 });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
      add(node, node.moduleSpecifier, isTypeOnly(node));
    } else if (ts.isCallExpression(node)) {
      const { expression } = node;
      const loads =
        expression.kind === ts.SyntaxKind.ImportKeyword ||
        (ts.isIdentifier(expression) && expression.text === 'require');
      if (loads) add(node, node.arguments[0], false);
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      add(node, node.argument.literal, true);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** Names of platform globals that a module uses as values. */
export function globalsOf(
  fileName: string,
  text: string,
  names: ReadonlySet<string>,
): { name: string; line: number }[] {
  const file = ts.createSourceFile(fileName, text, ts.ScriptTarget.ES2022, true);
  const found: { name: string; line: number }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node)) return;
    if (ts.isIdentifier(node) && names.has(node.text) && isReference(node)) {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
      found.push({ name: node.text, line: line + 1 });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** Not the name of a property, a member, a variable or a parameter of that name. */
function isReference(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node;
  const declared = parent as ts.Node & { name?: ts.Node };
  return declared.name !== node && !ts.isTypeNode(parent);
}
