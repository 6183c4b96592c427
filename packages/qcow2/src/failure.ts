import { BlockError } from '@blockyard/core';

/** What an error needs to know of the image: where it is, for messages. */
export interface Where {
  readonly path: string;
}

const name = (where: Where): string => (where.path ? `qcow2 image ${where.path}` : 'qcow2 image');

function failure(code: string, where: Where, text: string, offset?: number, length?: number): BlockError {
  const details = { driver: 'qcow2', path: where.path || undefined, offset, length };
  return new BlockError(code, `${name(where)}: ${text}`, details);
}

/** A field that no valid image has: the file is damaged, made by a faulty program, or an attack. */
export const invalid = (where: Where, text: string, offset?: number): BlockError =>
  failure('ERR_INVALID_IMAGE', where, text, offset);

/** Metadata that contradicts itself, found while the image is used. */
export const corrupt = (where: Where, text: string, offset?: number): BlockError =>
  failure(
    'ERR_CORRUPT',
    where,
    `${text}; the image is damaged: check it, or take a copy that is whole`,
    offset,
  );

/** Something starts past the end of the file. */
export const truncated = (where: Where, what: string, offset: number, fileSize: number): BlockError =>
  failure(
    'ERR_IMAGE_TRUNCATED',
    where,
    `${what} at ${offset} lies past the end of the file (${fileSize} bytes); the file was cut short: copy or download it again`,
    offset,
  );

export const unsupported = (where: Where, text: string): BlockError =>
  failure('ERR_UNSUPPORTED_FEATURE', where, text);

export const badOption = (where: Where, text: string): BlockError =>
  failure('ERR_INVALID_OPTION', where, text);

/** A number that JavaScript, and so this block layer, cannot hold exactly. */
export const tooBig = (where: Where, what: string, value: bigint): BlockError =>
  failure('EFBIG', where, `${what} is ${value}, more than 2^53 - 1, which is the most that is supported`);

/** More than the format, or any program that reads it, can hold. */
export const tooLarge = (where: Where, text: string): BlockError => failure('EFBIG', where, text);

/** The image as it is cannot be changed in this way. */
export const notPossible = (where: Where, text: string): BlockError =>
  failure('ERR_NOT_SUPPORTED', where, text);

export const marked = (where: Where): BlockError =>
  failure(
    'ERR_CORRUPT',
    where,
    'it is marked corrupt, and is not written before it is repaired (blockyard check -r all); it can be opened with readOnly: true',
  );

export const noSpace = (where: Where, text: string): BlockError => failure('ENOSPC', where, text);
