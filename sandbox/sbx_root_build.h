/*
 * sbx_root_build.h: placing host paths in the bare root, shared by sbx_root*.c.
 *
 * All paths are the host's, absolute; in the root they have the same name.
 * Runs in: supervisor.
 */

#ifndef SBX_ROOT_BUILD_H
#define SBX_ROOT_BUILD_H

#include <sys/types.h>

#include "sbx_err.h"

#define SBX_PLACED_MAX  128

typedef enum {
    SBX_PLACE_BIND,     /* directory or file, seen through */
    SBX_PLACE_COPY,     /* small file: one mount less in every slot */
    SBX_PLACE_LINK      /* only where the host has a symbolic link */
} sbx_place_t;

typedef struct {
    const char *dir;                /* the root's mount point */
    char *placed[SBX_PLACED_MAX];   /* host paths seen through binds; heap */
    size_t nplaced;
} sbx_builder_t;

/* 1: path is dir or below it. */
int sbx_root_below(const char *path, const char *dir);

/* Where path is while the root is built; full has PATH_MAX bytes. */
int sbx_root_path(const sbx_builder_t *b, const char *path, char *full,
    sbx_err_t *err);

/* Existing ones are fine. */
int sbx_root_mkdir(const sbx_builder_t *b, const char *path, sbx_err_t *err);
int sbx_root_link(const sbx_builder_t *b, const char *path,
    const char *target, sbx_err_t *err);

/* A new empty file, to bind on or to fill: a descriptor for writing, or -1. */
int sbx_root_file(const sbx_builder_t *b, const char *path, mode_t mode,
    sbx_err_t *err);
int sbx_root_write(int fd, const char *data, size_t len);

/* from: the host's path; to: the path in the root. */
int sbx_root_copy(const sbx_builder_t *b, const char *from, const char *to,
    mode_t mode, sbx_err_t *err);

/*
 * Places a path with all that leads to it: directories are made, symbolic links
 * made the same and followed.  Nothing is left to do where a directory above it
 * is bound already.
 */
int sbx_root_place(sbx_builder_t *b, const char *path, sbx_place_t how,
    sbx_err_t *err);

#endif
